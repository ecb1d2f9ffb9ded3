//! The applet channel: applets are small pages that run in a frame beside the chat of a session.
//!
//! - `registry`: finds applets: built in, in configured folders, in the data folder
//! - `opened`: which applets are open in which session
//! - `consent`: the user's consent to messages of applets
//! - `invocations`: messages to the agent in progress
//! - `message_meta`: `message-meta.json`, which applet sent what
//! - `frame`, `confine`: the document that an applet runs in, and its isolation from the network
//! - `tools`, `write_tools`: reading and changing the state of applets, and writing applets, as tools for agents
//! - `routes`: REST, frames and files; `socket`: the WebSocket `/ws/applet`
//! - `channel`: one open WebSocket: state, files, messages to the agent, tools of the page
//! - `view`: an applet as a page of its session
//! - `decode`: decodes messages of pages
//! - `wire`: messages and bodies; TypeScript and JSON Schema are generated from here
//!
//! Depends on core, pages, http, apps, assets, files and workspaces; on no other protocol.

mod channel;
mod confine;
mod consent;
pub mod decode;
mod frame;
mod invocations;
mod message_meta;
mod open_applets;
mod registry;
pub mod routes;
mod socket;
mod tools;
mod view;
pub mod wire;
mod write_tools;

use std::sync::Arc;

use gangway_core::{Consents, Hub};
use gangway_http::Http;
use gangway_pages::SocketPages;
use gangway_workspaces::Sessions;

use invocations::Invocations;
pub use registry::{Applet, AppletRegistry, Origin};
pub use tools::AppletTools;

pub struct AppletService {
    http: Arc<Http>,
    hub: Arc<Hub>,
    sessions: Sessions,
    pub registry: Arc<AppletRegistry>,
    /// The names of apps are listed beside those of applets.
    apps: Arc<gangway_apps::AppRegistry>,
    pub consents: Arc<Consents>,
    invocations: Arc<Invocations>,
    /// The open pages of sessions.
    open: Arc<SocketPages>,
}

impl AppletService {
    #[must_use]
    pub fn new(
        http: Arc<Http>,
        sessions: Sessions,
        registry: Arc<AppletRegistry>,
        apps: Arc<gangway_apps::AppRegistry>,
        consents: Arc<Consents>,
        open: Arc<SocketPages>,
    ) -> Arc<Self> {
        Arc::new(Self {
            http,
            hub: Arc::clone(sessions.hub()),
            sessions,
            registry,
            apps,
            consents,
            invocations: Arc::default(),
            open,
        })
    }
}
