//! Where catalog and installer are asked: at the running Gangway, or here on the folder.

use std::{path::Path, sync::Arc};

use gangway_client::DataFolder;

use super::{
    super::through::{Through, encoded},
    Place, tools_of,
};
use crate::tools::{
    Tools,
    catalog::wire::{CatalogPage, CatalogState, Install, InstallServer, RefreshState, RuntimeList},
};

/// Where to ask.
pub(super) enum Desk {
    /// At a server.
    Server(Through),
    /// Here; nobody else may have the folder meanwhile.
    Here(
        Arc<Tools>,
        #[allow(dead_code, reason = "held, not read")] DataFolder,
    ),
}

impl Desk {
    pub(super) fn open(data: &Path) -> anyhow::Result<Self> {
        Ok(match Place::find(data)? {
            Place::Server(server) => Self::Server(server),
            Place::Folder(folder) => Self::Here(tools_of(data, None)?, folder),
        })
    }

    /// Servers of the catalog that have these words.
    pub(super) async fn find(&self, words: &str, limit: usize) -> anyhow::Result<CatalogPage> {
        match self {
            Self::Server(server) => {
                let words = encoded(words);
                let path = format!("/api/mcp/catalog?limit={limit}&q={words}");
                server.get(&path).await
            }
            Self::Here(tools, _) => {
                tools.look().await;
                let page = tools.find(words, 0, limit).await?;
                // Nobody is here any more to see what comes in later.
                if page.refresh.state != RefreshState::Running {
                    return Ok(page);
                }
                self.refresh().await?;
                Ok(tools.find(words, 0, limit).await?)
            }
        }
    }

    /// Fetches the catalog and waits for the end of it.
    pub(super) async fn refresh(&self) -> anyhow::Result<CatalogState> {
        match self {
            Self::Server(server) => {
                let path = "/api/mcp/catalog/refresh";
                let mut state: CatalogState = server.post(path, &()).await?;
                while state.refresh.state == RefreshState::Running {
                    tokio::time::sleep(super::install::LOOK).await;
                    let page: CatalogPage = server.get("/api/mcp/catalog?limit=1").await?;
                    (state.total, state.refresh) = (page.total, page.refresh);
                    state.source = page.source;
                }
                Ok(state)
            }
            Self::Here(tools, _) => {
                let _ = tools.catalog.refresh().wait_for(|over| *over).await;
                Ok(tools.catalog_state().await?)
            }
        }
    }

    pub(super) async fn runtimes(&self) -> anyhow::Result<RuntimeList> {
        match self {
            Self::Server(server) => server.get("/api/mcp/runtimes").await,
            Self::Here(tools, _) => Ok(tools.runtimes().await),
        }
    }

    pub(super) async fn install(&self, wish: InstallServer) -> anyhow::Result<Install> {
        match self {
            Self::Server(server) => server.post("/api/mcp/installs", &wish).await,
            Self::Here(tools, _) => {
                tools.run_only(&wish.id);
                Ok(tools.install(wish).await?)
            }
        }
    }

    pub(super) async fn look(&self, install: &str) -> anyhow::Result<Install> {
        match self {
            Self::Server(server) => server.get(&format!("/api/mcp/installs/{install}")).await,
            Self::Here(tools, _) => tools
                .installs
                .get(install)
                .ok_or_else(|| anyhow::anyhow!("the install is forgotten")),
        }
    }

    pub(super) async fn cancel(&self, install: &str) -> anyhow::Result<()> {
        match self {
            Self::Server(server) => server.delete(&format!("/api/mcp/installs/{install}")).await,
            Self::Here(tools, _) => {
                tools.installs.end(install);
                Ok(())
            }
        }
    }

    /// Ends what runs here.
    pub(super) async fn close(self) {
        if let Self::Here(tools, _) = self {
            tools.shutdown().await;
        }
    }
}
