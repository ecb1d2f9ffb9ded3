//! The applet channel: applets are small pages that run in a frame beside the chat of a session.
//!
//! - `registry`: where applets are found: built in, in folders that were named, in the data folder
//! - `opened`: which applets are open in which session
//! - `consent`: who may speak in a session beside the person
//! - `invocations`: messages to the agent that are under way
//! - `message_meta`: `message-meta.json`, which applet said what
//! - `frame`, `confine`: the document that an applet runs in, and what keeps it from the network
//! - `tools`, `write_tools`: reading and changing the state of applets, and writing applets, as tools for agents
//! - `routes`: REST, frames and files; `socket`: the WebSocket `/ws/applet`
//! - `channel`: one open WebSocket: state, files, messages to the agent
//! - `decode`: from a text message to what it asks
//! - `wire`: messages and bodies; TypeScript and JSON Schema are generated from here
//!
//! Depends on core, http, apps, assets, files, mcp and workspaces; on no other protocol.

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

/// What the routes and channels of applets use.
pub struct AppletService {
    http: Arc<Http>,
    hub: Arc<Hub>,
    sessions: Sessions,
    /// The applets there are.
    pub registry: Arc<AppletRegistry>,
    /// The apps there are; their names are shown beside those of applets.
    apps: Arc<gangway_apps::Shelf>,
    /// The person's consent to what applets say.
    pub consents: Arc<Consents>,
    /// Messages to the agent that are under way.
    invocations: Arc<Invocations>,
}

impl AppletService {
    /// The applets of this registry, in these sessions.
    #[must_use]
    pub fn new(
        http: Arc<Http>,
        sessions: Sessions,
        registry: Arc<AppletRegistry>,
        apps: Arc<gangway_apps::Shelf>,
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
