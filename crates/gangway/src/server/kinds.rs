//! The two kinds of server: the full one, and one for a single command, without background tasks.

use std::{collections::BTreeSet, net::SocketAddr, path::Path, sync::Arc};

use gangway_core::Store;
use gangway_providers::ModelAccess;
use gangway_tools::ServerSelection;
use tokio::net::TcpListener;

use super::{STOP_WITHIN, Server, ServerError, accept};
use crate::config::Config;

impl Server {
    pub async fn new(
        config: Config,
        data: &Path,
        store: Store,
        access: ModelAccess,
        address: SocketAddr,
        local_token: &str,
    ) -> Result<Self, ServerError> {
        Self::make(
            config,
            data,
            store,
            access,
            address,
            local_token,
            ServerSelection::All,
        )
        .await
    }

    /// A server for the requests of one command. MCP servers are started on demand only.
    pub async fn for_command(
        config: Config,
        data: &Path,
        store: Store,
        access: ModelAccess,
        address: SocketAddr,
        local_token: &str,
    ) -> Result<Self, ServerError> {
        let none = ServerSelection::These(BTreeSet::new());
        let server = Self::make(config, data, store, access, address, local_token, none).await?;
        server.app.tools.look().await;
        Ok(server)
    }

    /// Answers requests until `stop` resolves. Nothing is recovered, watched, swept or started meanwhile.
    pub async fn answer(self, listener: TcpListener, stop: impl Future<Output = ()>) {
        let accepting = tokio::spawn(accept::run(Arc::clone(&self.app), listener));
        stop.await;
        self.app.http.stop.cancel();
        let ended = async {
            self.app.hub.shut_down().await;
            self.app.web_agent.permissions.flush().await;
            self.app.tools.shutdown().await;
            accepting.await.ok();
        };
        if tokio::time::timeout(STOP_WITHIN, ended).await.is_err() {
            tracing::warn!("some connections did not end before the timeout");
        }
        if let Err(error) = self.app.hub.store().finish().await {
            tracing::warn!(%error, "cannot checkpoint the write-ahead log");
        }
    }
}
