//! Starting a server on a data folder, for `gangway serve` or for one command.

use anyhow::Context;
use gangway_client::{DataFolder, ServerNote};
use gangway_core::{Store, secret::new_secret};
use gangway_providers::ModelAccess;
use tokio::net::TcpListener;

use super::server::Kind;
use crate::{
    config::Config,
    server::{Server, reachable},
};

/// A server about to listen, and its address.
pub(super) struct Launch {
    pub(super) folder: DataFolder,
    listener: TcpListener,
    pub(super) server: Server,
    pub(super) note: ServerNote,
    /// Environment variables hidden from child processes.
    pub(super) withheld: Vec<String>,
}

impl Launch {
    /// For a locked data folder and a bound listener; announces itself in server.lock.
    pub(super) async fn new(
        config: Config,
        folder: DataFolder,
        listener: TcpListener,
        for_browser: bool,
    ) -> anyhow::Result<Self> {
        let mut launch = Self::make(config, folder, listener, for_browser, Kind::Whole).await?;
        let announced = launch.folder.announce(&launch.note);
        announced.context("writing server.lock")?;
        Ok(launch)
    }

    /// The same for one command, without announcing itself.
    pub(super) async fn for_command(
        config: Config,
        folder: DataFolder,
        listener: TcpListener,
    ) -> anyhow::Result<Self> {
        Self::make(config, folder, listener, false, Kind::ForCommand).await
    }

    async fn make(
        config: Config,
        folder: DataFolder,
        listener: TcpListener,
        for_browser: bool,
        kind: Kind,
    ) -> anyhow::Result<Self> {
        let address = listener.local_addr()?;
        let note = ServerNote {
            pid: std::process::id(),
            url: format!("http://{}", reachable(address)),
            token: new_secret(),
            for_browser,
        };
        let store = Store::open(folder.path())?;
        let mut access =
            ModelAccess::read(&config.model_settings(), |name| std::env::var(name).ok())?;
        access.program = super::program();
        let withheld = access.withheld().map(str::to_owned).collect();
        let (data, token) = (folder.path(), &note.token);
        let server = match kind {
            Kind::Whole => Server::new(config, data, store, access, address, token).await?,
            Kind::ForCommand | Kind::ForStored => {
                Server::for_command(config, data, store, access, address, token).await?
            }
        };
        Ok(Self {
            folder,
            listener,
            server,
            note,
            withheld,
        })
    }

    /// Serves until `stop` resolves.
    pub(super) async fn listen(self, stop: impl Future<Output = ()>) -> anyhow::Result<()> {
        self.server.listen(self.listener, stop).await?;
        Ok(())
    }

    /// Only answers requests, without background tasks, until `stop` resolves.
    pub(super) async fn answer(self, stop: impl Future<Output = ()>) {
        self.server.answer(self.listener, stop).await;
    }
}
