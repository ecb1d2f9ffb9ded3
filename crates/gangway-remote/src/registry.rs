//! Projects and personas, from the settings and added at runtime.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use gangway_core::{
    Result, Slug,
    store::{Expect, Put, Store, record},
};
use gangway_runner::wire::Persona;
use serde::{Serialize, de::DeserializeOwned};

use crate::config::{PersonaConfig, ProjectConfig, RemoteSettings};

/// More than needed.
const MOST: usize = 10_000;

/// A persona is part of every prompt, so its size is limited.
pub(super) const TEXT_BYTES: u64 = 256 << 10;

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize, utoipa::ToSchema, ts_rs::TS,
)]
#[serde(rename_all = "snake_case")]
pub enum StoredIn {
    Config,
    Added,
}

#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    #[error("{0:?} is defined in config.yaml; change it there")]
    InConfig(String),
    #[error("{0}")]
    Wrong(String),
    #[error("{0} not found")]
    Missing(String),
    #[error("{0}")]
    Changed(String),
    #[error(transparent)]
    Core(#[from] gangway_core::Error),
}

#[derive(Debug, thiserror::Error)]
#[error("{path}: {reason}", path = path.display())]
pub struct PersonaUnreadable {
    path: PathBuf,
    reason: String,
}

pub struct Registry {
    store: Store,
    projects: BTreeMap<String, ProjectConfig>,
    personas: BTreeMap<String, PersonaConfig>,
    backends: Vec<String>,
    /// The folder of personas that were created here.
    pub(super) home: PathBuf,
    /// Serializes changes of persona files.
    pub(super) writing: tokio::sync::Mutex<()>,
}

impl Registry {
    #[must_use]
    pub fn new(settings: &RemoteSettings, store: Store, data: &Path) -> Self {
        let own = ["builtin".to_owned()];
        let backends = settings.remote.backends.keys().cloned();
        Self {
            store,
            projects: settings.projects.clone(),
            personas: settings.personas.clone(),
            backends: own.into_iter().chain(backends).collect(),
            home: std::path::absolute(data)
                .unwrap_or_else(|_| data.to_owned())
                .join("personas"),
            writing: tokio::sync::Mutex::default(),
        }
    }

    #[must_use]
    pub fn backends(&self) -> &[String] {
        &self.backends
    }

    pub async fn project(&self, name: &str) -> Result<Option<ProjectConfig>> {
        match self.projects.get(name) {
            Some(project) => Ok(Some(project.clone())),
            None if crate::project_name::is_project_name(name) => {
                get(&self.store, &project_key(name)).await
            }
            None => Ok(None),
        }
    }

    /// Active or not.
    pub async fn persona(&self, slug: &str) -> Result<Option<PersonaConfig>> {
        match self.personas.get(slug) {
            Some(persona) => Ok(Some(persona.clone())),
            None if slug.parse::<Slug>().is_ok() => get(&self.store, &persona_key(slug)).await,
            None => Ok(None),
        }
    }

    pub async fn projects(&self) -> Result<BTreeMap<String, (ProjectConfig, StoredIn)>> {
        all(&self.store, "project/", &self.projects).await
    }

    pub async fn personas(&self) -> Result<BTreeMap<String, (PersonaConfig, StoredIn)>> {
        all(&self.store, "persona/", &self.personas).await
    }

    pub async fn add_project(
        &self,
        name: &str,
        project: &ProjectConfig,
    ) -> Result<(), RegistryError> {
        if self.projects.contains_key(name) {
            return Err(RegistryError::InConfig(name.to_owned()));
        }
        let wrong = |message: String| Err(RegistryError::Wrong(message));
        if !crate::project_name::is_project_name(name) {
            return wrong(format!(
                "project names must be {}",
                crate::project_name::PROJECT_NAMES
            ));
        }
        check_folder(&project.folder)?;
        let backend = project.backend.as_deref().unwrap_or("builtin");
        if !self.backends.iter().any(|known| known == backend) {
            let known = self.backends.join(", ");
            return wrong(format!(
                "unknown backend {backend:?}; known are {known}. Add others under remote_agents.backends in config.yaml"
            ));
        }
        put(&self.store, project_key(name), project).await
    }

    pub async fn add_persona(
        &self,
        slug: &str,
        persona: &PersonaConfig,
    ) -> Result<(), RegistryError> {
        if self.personas.contains_key(slug) {
            return Err(RegistryError::InConfig(slug.to_owned()));
        }
        check_slug(slug)?;
        check_folder(&persona.folder)?;
        read(slug, &persona.folder).map_err(|error| RegistryError::Wrong(error.to_string()))?;
        put(&self.store, persona_key(slug), persona).await
    }

    /// Its folder is kept.
    pub async fn remove_project(&self, name: &str) -> Result<(), RegistryError> {
        if self.projects.contains_key(name) {
            return Err(RegistryError::InConfig(name.to_owned()));
        }
        remove(&self.store, project_key(name), format!("project {name:?}")).await
    }

    /// Its folder is kept, unless it was created here.
    pub async fn remove_persona(&self, slug: &str) -> Result<(), RegistryError> {
        if self.personas.contains_key(slug) {
            return Err(RegistryError::InConfig(slug.to_owned()));
        }
        let _alone = self.writing.lock().await;
        let known: Option<PersonaConfig> = get(&self.store, &persona_key(slug)).await?;
        remove(&self.store, persona_key(slug), format!("persona {slug:?}")).await?;
        if let Some(persona) = known.filter(|one| self.is_own(one)) {
            self.remove_texts(&persona.folder);
        }
        Ok(())
    }

    #[must_use]
    pub fn is_in_config(&self, slug: &str) -> bool {
        self.personas.contains_key(slug)
    }
}

pub fn read(slug: &str, folder: &Path) -> Result<Persona, PersonaUnreadable> {
    let skill = read_text(&folder.join("skill.md"))?;
    let experience = folder.join("experience.md");
    let experience = match experience.exists() {
        true => Some(read_text(&experience)?),
        false => None,
    };
    Ok(Persona {
        slug: slug.to_owned(),
        skill,
        experience,
    })
}

pub(super) fn read_text(path: &Path) -> Result<String, PersonaUnreadable> {
    let failed = |reason: String| PersonaUnreadable {
        path: path.to_owned(),
        reason,
    };
    let known = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?;
    if !known.is_file() || known.len() > TEXT_BYTES {
        let most = TEXT_BYTES >> 10;
        return Err(failed(format!("must be a file of at most {most} KiB")));
    }
    std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))
}

pub(super) fn check_slug(slug: &str) -> Result<(), RegistryError> {
    if slug.parse::<Slug>().is_ok() {
        return Ok(());
    }
    let message = "a slug must be at most 64 lowercase letters, digits and -, and begin and end with a letter or digit";
    Err(RegistryError::Wrong(message.into()))
}

fn check_folder(folder: &Path) -> Result<(), RegistryError> {
    if folder.is_absolute() && folder.is_dir() {
        return Ok(());
    }
    let shown = folder.display();
    let message = format!("{shown} is not the absolute path of an existing folder");
    Err(RegistryError::Wrong(message))
}

fn project_key(name: &str) -> String {
    format!("project/{name}")
}

fn persona_key(slug: &str) -> String {
    format!("persona/{slug}")
}

async fn get<T: DeserializeOwned>(store: &Store, key: &str) -> Result<Option<T>> {
    Ok(store.get::<T>(key).await?.map(|row| row.value))
}

async fn all<T: DeserializeOwned + Clone>(
    store: &Store,
    prefix: &str,
    settings: &BTreeMap<String, T>,
) -> Result<BTreeMap<String, (T, StoredIn)>> {
    let rows = store.list::<T>(prefix, None, MOST).await?;
    let added = rows.into_iter().map(|(key, row)| {
        let name = key.trim_start_matches(prefix).to_owned();
        (name, (row.value, StoredIn::Added))
    });
    let configured = settings
        .iter()
        .map(|(name, one)| (name.clone(), (one.clone(), StoredIn::Config)));
    Ok(added.chain(configured).collect())
}

async fn put<T: Serialize>(store: &Store, key: String, value: &T) -> Result<(), RegistryError> {
    let commit = store.put(vec![record(key, value)?]).await?;
    Ok(store.keep(commit).await?)
}

async fn remove(store: &Store, key: String, what: String) -> Result<(), RegistryError> {
    if store.get::<serde_json::Value>(&key).await?.is_none() {
        return Err(RegistryError::Missing(what));
    }
    let commit = store.put(vec![Put::remove(key, Expect::Any)]).await?;
    Ok(store.keep(commit).await?)
}
