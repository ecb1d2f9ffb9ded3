//! The two kinds of server: for everyone, and for one command. The second answers requests and begins nothing by itself.

use std::{collections::BTreeSet, net::SocketAddr, path::Path, sync::Arc};

use gangway_core::Store;
use gangway_providers::ModelAccess;
use gangway_tools::Wanted;
use tokio::net::TcpListener;

use super::{STOP_WITHIN, Server, ServerError, accept};
use crate::config::Config;

impl Server {
    /// A server on this data folder, for this address.
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
            Wanted::All,
        )
        .await
    }

    /// A server on this data folder for the requests of one command. No MCP server runs in it until a request wants it.
    pub async fn for_command(
        config: Config,
        data: &Path,
        store: Store,
        access: ModelAccess,
        address: SocketAddr,
        local_token: &str,
    ) -> Result<Self, ServerError> {
        let none = Wanted::These(BTreeSet::new());
        let server = Self::make(config, data, store, access, address, local_token, none).await?;
        server.app.tools.look().await;
        Ok(server)
    }

    /// Answers requests until `stop` is done. Nothing is recovered, watched, swept or started meanwhile.
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
            tracing::warn!("some connections did not end in time");
        }
        if let Err(error) = self.app.hub.store().finish().await {
            tracing::warn!(%error, "the write-ahead log could not be moved into the database");
        }
    }
}
