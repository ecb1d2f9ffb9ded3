//! A server on a data folder: for everyone, or for one command.

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

/// A server that is about to listen, and what others need to find it.
pub(super) struct Launch {
    pub(super) folder: DataFolder,
    listener: TcpListener,
    pub(super) server: Server,
    /// Where it is.
    pub(super) note: ServerNote,
    /// What no program that is started from here may see in its environment.
    pub(super) withheld: Vec<String>,
}

impl Launch {
    /// On a folder that was taken and an address that was bound.
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

    /// The same for the requests of one command: nobody else is told where it is.
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

    /// Serves until `stop` is done.
    pub(super) async fn listen(self, stop: impl Future<Output = ()>) -> anyhow::Result<()> {
        self.server.listen(self.listener, stop).await?;
        Ok(())
    }

    /// Answers requests until `stop` is done, and does nothing else.
    pub(super) async fn answer(self, stop: impl Future<Output = ()>) {
        self.server.answer(self.listener, stop).await;
    }
}
