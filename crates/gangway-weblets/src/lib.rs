//! Agent context: weblets are apps that an agent launches with data, and that send it events.
//!
//! - `launches`: launches and what waits for their agents; `launch` makes one, `token` has the secrets in their addresses,
//!   `inbox` what an external agent has not taken yet, `presence` which pages and agents are connected
//! - `deliver`: messages between app and agent, written to the session's log
//! - `order`: one client's messages take effect in the order of their arrival
//! - `actions`: what Gangway does for an app, with the person's consent
//! - `tools`: launching and following apps as tools for agents
//! - `view`: a launched app as a page of its session
//! - `routes`: REST; `socket`: the channel, with a page's side and an agent's side
//! - `host`: the hosts of apps: files, the injected context, storage, and what other protocols serve there
//! - `wire`: bodies and messages; TypeScript and JSON Schema are generated from here
//!
//! Depends on core, pages, http, apps, assets, files and workspaces; on no other protocol.

mod actions;
mod deliver;
mod host;
mod inbox;
mod launch;
mod launches;
mod order;
mod presence;
pub mod routes;
mod socket;
mod token;
mod tools;
mod view;
pub mod wire;

use std::{collections::HashSet, sync::Arc};

use gangway_core::{Asks, Consents, Hub, LaunchId, Toolbox};
use gangway_http::Http;
use gangway_pages::SocketPages;
use parking_lot::Mutex;

pub use actions::ACTIONS;
pub use host::{AppHostRoutes, AppPage, on_app_host};
pub use inbox::{Inbox, Item};
pub use launches::Launches;
pub use presence::{Presence, Side};
pub use tools::WebletTools;

pub struct Weblets {
    pub launches: Arc<Launches>,
    hub: Arc<Hub>,
    http: Arc<Http>,
    apps: Arc<gangway_apps::AppRegistry>,
    pages: gangway_apps::Pages,
    consents: Arc<Consents>,
    asks: Arc<Asks>,
    toolbox: Arc<dyn Toolbox>,
    other_routes: Arc<dyn AppHostRoutes>,
    /// The open pages of launches.
    open: Arc<SocketPages>,
    /// Requests that Gangway itself is carrying out.
    busy: Mutex<HashSet<(LaunchId, String)>>,
    /// Serializes changes, which read the storage of an app first.
    storing: tokio::sync::Mutex<()>,
}

impl Weblets {
    /// `asks` asks the user before an action, `toolbox` has the tools that apps may call, and `other_routes` are
    /// routes of other protocols on the hosts of apps. `open` are their open pages.
    #[must_use]
    pub fn new(
        launches: Arc<Launches>,
        hub: Arc<Hub>,
        consents: Arc<Consents>,
        asks: Arc<Asks>,
        toolbox: Arc<dyn Toolbox>,
        other_routes: Arc<dyn AppHostRoutes>,
        open: Arc<SocketPages>,
    ) -> Arc<Self> {
        Arc::new(Self {
            hub,
            http: Arc::clone(&launches.http),
            apps: Arc::clone(&launches.apps),
            launches,
            pages: gangway_apps::Pages::default(),
            consents,
            asks,
            toolbox,
            other_routes,
            open,
            busy: Mutex::default(),
            storing: tokio::sync::Mutex::default(),
        })
    }
}
