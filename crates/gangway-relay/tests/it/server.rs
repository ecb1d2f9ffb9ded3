//! A relay on a server of its own.

use std::sync::Arc;

use gangway_agents::Scripted;
use gangway_core::{Agent, Agents, Asks, Hub, Limits, Notes};
use gangway_http::routes::Routes;
use gangway_pages::Pages;
use gangway_relay::{AGENT, Relay, RelayAgent, RelayConfig, RelayState, routes::routes};
use gangway_testing::{
    server::{Parts, Service, ServiceServer},
    sessions::HasSessions,
};
use gangway_workspaces::{Sessions, Workspaces};
use tokio_util::task::AbortOnDropHandle;

pub type TestServer = ServiceServer<RelayService>;

pub struct RelayService {
    pub relay: Arc<Relay>,
    sessions: Sessions,
    _timeouts: AbortOnDropHandle<()>,
    _writing: AbortOnDropHandle<()>,
}

impl Service for RelayService {
    type Config = RelayConfig;

    async fn start(config: &RelayConfig, parts: Parts) -> (Self, Routes) {
        let agent: Arc<dyn Agent> = Arc::new(Scripted::demo().unwrap());
        let relay: Arc<dyn Agent> = Arc::new(RelayAgent);
        let agents = [("demo".to_owned(), agent), (AGENT.to_owned(), relay)];
        let agents = Agents::new(agents.into(), "demo").unwrap();
        let hub = Hub::new(parts.store, agents, Limits::default());
        let (notes, writer) = Notes::new();
        let pages = Pages::new(notes.clone());
        let writing = writer.run(Arc::clone(&hub), parts.http.stop.clone());
        let workspaces = Arc::new(Workspaces::new(&parts.data));
        let sessions = Sessions::new(hub, workspaces);
        let asks = Arc::new(Asks::new(notes));
        let relay = Relay::load(config, &parts.data, sessions.clone(), pages, asks)
            .await
            .unwrap();
        let timeouts = Arc::clone(&relay).look_after(parts.http.stop.clone());
        let state = RelayState {
            http: parts.http,
            relay: Arc::clone(&relay),
            message_bytes: config.message_bytes,
        };
        let service = Self {
            relay,
            sessions,
            _timeouts: AbortOnDropHandle::new(tokio::spawn(timeouts)),
            _writing: AbortOnDropHandle::new(tokio::spawn(writing)),
        };
        (service, routes().with_state(Some(Arc::new(state))))
    }

    async fn stop(&self) {
        self.sessions.hub().shut_down().await;
    }
}

impl HasSessions for RelayService {
    fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}
