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
//! - `channel`: one open WebSocket: state, files, messages to the agent
//! - `decode`: decodes messages of pages
//! - `wire`: messages and bodies; TypeScript and JSON Schema are generated from here
//!
//! Depends on core, http, apps, assets, files and workspaces; on no other protocol.

mod channel;
mod confine;
mod consent;
pub mod decode;
mod frame;
mod invocations;
mod message_meta;
mod opened;
mod registry;
pub mod routes;
mod socket;
mod tools;
pub mod wire;
mod write_tools;

use std::sync::Arc;

use gangway_core::{Consents, Hub};
use gangway_http::Http;
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
}

impl AppletService {
    #[must_use]
    pub fn new(
        http: Arc<Http>,
        sessions: Sessions,
        registry: Arc<AppletRegistry>,
        apps: Arc<gangway_apps::AppRegistry>,
        consents: Arc<Consents>,
    ) -> Arc<Self> {
        Arc::new(Self {
            http,
            hub: Arc::clone(sessions.hub()),
            sessions,
            registry,
            apps,
            consents,
            invocations: Arc::default(),
        })
    }
}
