//! A relay on a server of its own.

use std::sync::Arc;

use gangway_http::routes::Routes;
use gangway_relay::{Relay, RelayConfig, RelayState, routes::routes};
use gangway_testing::server::{Parts, Service, ServiceServer};
use tokio_util::task::AbortOnDropHandle;

pub type TestServer = ServiceServer<RelayService>;

pub struct RelayService {
    pub relay: Arc<Relay>,
    _timeouts: AbortOnDropHandle<()>,
}

impl Service for RelayService {
    type Config = RelayConfig;

    async fn start(config: &RelayConfig, parts: Parts) -> (Self, Routes) {
        let relay = Relay::load(
            config,
            &parts.data,
            parts.store,
            gangway_pages::Pages::new().0,
            Arc::default(),
        )
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
            _timeouts: AbortOnDropHandle::new(tokio::spawn(timeouts)),
        };
        (service, routes().with_state(Some(Arc::new(state))))
    }
}
