//! Where projects and personas are looked at and changed: at the running Gangway, or here on the folder.

use std::path::{Path, PathBuf};

use anyhow::Context;
use gangway_client::DataFolder;
use gangway_core::Store;

use super::super::{
    Common,
    serve::ServeArgs,
    through::{Place, Through, encoded},
};
use crate::{
    config::{PersonaConfig, ProjectConfig},
    doors::remote::{
        list_personas, list_projects,
        wire::{Nothing, PersonaList, ProjectList},
    },
    remote::Shelf,
};

/// Where to ask.
pub(super) enum Desk {
    /// At a server.
    Server(Through),
    /// Here; nobody else may have the folder meanwhile.
    Here(
        Box<Shelf>,
        #[allow(dead_code, reason = "held, not read")] DataFolder,
    ),
}

impl Desk {
    pub(super) fn open(common: &Common) -> anyhow::Result<Self> {
        let data = common.data()?;
        Ok(match Place::find(&data)? {
            Place::Server(server) => Self::Server(server),
            Place::Folder(folder) => {
                let config = ServeArgs::alone(common.clone()).settings(&data)?;
                let store = Store::open(folder.path())?;
                Self::Here(Box::new(Shelf::new(&config, store, &data)), folder)
            }
        })
    }

    /// The running Gangway: agents are nowhere else.
    pub(super) fn server(common: &Common) -> anyhow::Result<Through> {
        match Place::find(&common.data()?)? {
            Place::Server(server) => Ok(server),
            Place::Folder(_) => anyhow::bail!(
                "no Gangway runs on this data folder; agents that still run come back when one starts: gangway serve"
            ),
        }
    }

    pub(super) async fn projects(&self) -> anyhow::Result<ProjectList> {
        match self {
            Self::Server(server) => server.get("/api/projects").await,
            Self::Here(shelf, _) => Ok(list_projects(shelf).await?),
        }
    }

    pub(super) async fn personas(&self) -> anyhow::Result<PersonaList> {
        match self {
            Self::Server(server) => server.get("/api/personas").await,
            Self::Here(shelf, _) => Ok(list_personas(shelf).await?),
        }
    }

    pub(super) async fn add_project(
        &self,
        name: &str,
        project: &ProjectConfig,
    ) -> anyhow::Result<()> {
        match self {
            Self::Server(server) => {
                let path = format!("/api/projects/{}", encoded(name));
                server.put::<Nothing>(&path, project).await.map(|_| ())
            }
            Self::Here(shelf, _) => Ok(shelf.add_project(name, project).await?),
        }
    }

    pub(super) async fn add_persona(
        &self,
        slug: &str,
        persona: &PersonaConfig,
    ) -> anyhow::Result<()> {
        match self {
            Self::Server(server) => {
                let path = format!("/api/personas/{}", encoded(slug));
                server.put::<Nothing>(&path, persona).await.map(|_| ())
            }
            Self::Here(shelf, _) => Ok(shelf.add_persona(slug, persona).await?),
        }
    }

    pub(super) async fn remove_project(&self, name: &str) -> anyhow::Result<()> {
        match self {
            Self::Server(server) => {
                let path = format!("/api/projects/{}", encoded(name));
                server.delete(&path).await
            }
            Self::Here(shelf, _) => Ok(shelf.remove_project(name).await?),
        }
    }

    pub(super) async fn remove_persona(&self, slug: &str) -> anyhow::Result<()> {
        match self {
            Self::Server(server) => {
                let path = format!("/api/personas/{}", encoded(slug));
                server.delete(&path).await
            }
            Self::Here(shelf, _) => Ok(shelf.remove_persona(slug).await?),
        }
    }
}

/// A folder as it is found from anywhere.
pub(super) fn whole(folder: &Path) -> anyhow::Result<PathBuf> {
    folder
        .canonicalize()
        .with_context(|| format!("looking at the folder {}", folder.display()))
}
