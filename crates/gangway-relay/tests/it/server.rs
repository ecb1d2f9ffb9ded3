//! A relay on a server of its own.

use std::{ops::Deref, sync::Arc};

use gangway_relay::{Relay, RelayConfig, RelayState, routes::routes};
use gangway_testing::server::RouteServer;
use tempfile::TempDir;
use tokio_util::task::AbortOnDropHandle;

pub struct TestServer {
    pub relay: Arc<Relay>,
    server: RouteServer,
    config: RelayConfig,
    _timeouts: AbortOnDropHandle<()>,
}

impl TestServer {
    pub async fn start() -> Self {
        Self::with(|_| {}).await
    }

    pub async fn with(change: impl FnOnce(&mut RelayConfig)) -> Self {
        let mut config = RelayConfig::default();
        change(&mut config);
        Self::on(tempfile::tempdir().unwrap(), config).await
    }

    async fn on(folder: TempDir, config: RelayConfig) -> Self {
        let mut made = None;
        let server = RouteServer::start(folder, &[], async |parts| {
            let relay = Relay::load(&config, &parts.data, parts.store)
                .await
                .unwrap();
            made = Some(Arc::clone(&relay));
            let state = RelayState {
                http: parts.http,
                relay,
                message_bytes: config.message_bytes,
            };
            routes().with_state(Some(Arc::new(state)))
        })
        .await;
        let relay = made.unwrap();
        let timeouts = Arc::clone(&relay).look_after(server.services.stop.clone());
        Self {
            relay,
            server,
            config,
            _timeouts: AbortOnDropHandle::new(tokio::spawn(timeouts)),
        }
    }

    /// Stops it as ctrl-c would, and starts another on the same folder.
    pub async fn restart(self) -> Self {
        self.restart_with(|_| {}).await
    }

    pub async fn restart_with(mut self, change: impl FnOnce(&mut RelayConfig)) -> Self {
        change(&mut self.config);
        let folder = self.server.stop().await;
        Self::on(folder, self.config).await
    }
}

impl Deref for TestServer {
    type Target = RouteServer;

    fn deref(&self) -> &RouteServer {
        &self.server
    }
}
