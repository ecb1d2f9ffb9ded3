//! The registry of projects and personas: those of the settings, and those that were added.

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

/// Far more than anyone has.
const MOST: usize = 10_000;

/// A persona is told to a model in front of everything else, so it is no book.
pub(super) const TEXT_BYTES: u64 = 256 << 10;

/// Where something is from.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize, utoipa::ToSchema, ts_rs::TS,
)]
#[serde(rename_all = "snake_case")]
pub enum KeptIn {
    /// The settings.
    Config,
    /// Somebody added it.
    Added,
}

/// Why something cannot be added or removed.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// It stands in the settings.
    #[error("{0:?} stands in config.yaml; change it there")]
    InConfig(String),
    /// It makes no sense.
    #[error("{0}")]
    Wrong(String),
    /// It is not there.
    #[error("there is no {0}")]
    Missing(String),
    /// It was changed since the caller read it.
    #[error("{0}")]
    Changed(String),
    /// The store failed.
    #[error(transparent)]
    Core(#[from] gangway_core::Error),
}

/// Why a persona cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {reason}", path = path.display())]
pub struct PersonaUnreadable {
    path: PathBuf,
    reason: String,
}

/// Projects and personas.
pub struct Registry {
    store: Store,
    projects: BTreeMap<String, ProjectConfig>,
    personas: BTreeMap<String, PersonaConfig>,
    brains: Vec<String>,
    /// Where personas are that were written here.
    pub(super) home: PathBuf,
    /// One change of a persona's files at a time.
    pub(super) writing: tokio::sync::Mutex<()>,
}

impl Registry {
    /// Those of the settings and of this store, which is in this data folder.
    #[must_use]
    pub fn new(settings: &RemoteSettings, store: Store, data: &Path) -> Self {
        let own = ["builtin".to_owned()];
        let brains = settings.remote.brains.keys().cloned();
        Self {
            store,
            projects: settings.projects.clone(),
            personas: settings.personas.clone(),
            brains: own.into_iter().chain(brains).collect(),
            home: std::path::absolute(data)
                .unwrap_or_else(|_| data.to_owned())
                .join("personas"),
            writing: tokio::sync::Mutex::default(),
        }
    }

    /// What can think.
    #[must_use]
    pub fn brains(&self) -> &[String] {
        &self.brains
    }

    /// A project by name.
    pub async fn project(&self, name: &str) -> Result<Option<ProjectConfig>> {
        match self.projects.get(name) {
            Some(project) => Ok(Some(project.clone())),
            None if crate::project_name::is_project_name(name) => {
                get(&self.store, &project_key(name)).await
            }
            None => Ok(None),
        }
    }

    /// A persona by slug, whether or not it is switched off.
    pub async fn persona(&self, slug: &str) -> Result<Option<PersonaConfig>> {
        match self.personas.get(slug) {
            Some(persona) => Ok(Some(persona.clone())),
            None if slug.parse::<Slug>().is_ok() => get(&self.store, &persona_key(slug)).await,
            None => Ok(None),
        }
    }

    /// All projects, by name.
    pub async fn projects(&self) -> Result<BTreeMap<String, (ProjectConfig, KeptIn)>> {
        all(&self.store, "project/", &self.projects).await
    }

    /// All personas, by slug.
    pub async fn personas(&self) -> Result<BTreeMap<String, (PersonaConfig, KeptIn)>> {
        all(&self.store, "persona/", &self.personas).await
    }

    /// Keeps a project.
    pub async fn add_project(
        &self,
        name: &str,
        project: &ProjectConfig,
    ) -> Result<(), RegistryError> {
        if self.projects.contains_key(name) {
            return Err(RegistryError::InConfig(name.to_owned()));
        }
        let wrong = |words: String| Err(RegistryError::Wrong(words));
        if !crate::project_name::is_project_name(name) {
            return wrong(format!(
                "projects have {}",
                crate::project_name::PROJECT_NAMES
            ));
        }
        check_folder(&project.folder)?;
        let brain = project.brain.as_deref().unwrap_or("builtin");
        if !self.brains.iter().any(|known| known == brain) {
            let known = self.brains.join(", ");
            return wrong(format!(
                "there is no brain {brain:?}; there are: {known}. Others go under remote_agents.brains in config.yaml"
            ));
        }
        put(&self.store, project_key(name), project).await
    }

    /// Keeps a persona.
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

    /// Forgets a project; its folder stays.
    pub async fn remove_project(&self, name: &str) -> Result<(), RegistryError> {
        if self.projects.contains_key(name) {
            return Err(RegistryError::InConfig(name.to_owned()));
        }
        remove(&self.store, project_key(name), format!("project {name:?}")).await
    }

    /// Forgets a persona. Its folder stays, unless it was written here.
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

    /// Whether a persona stands in the settings.
    #[must_use]
    pub fn is_in_config(&self, slug: &str) -> bool {
        self.personas.contains_key(slug)
    }
}

/// Reads who a persona is.
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
        return Err(failed(format!("this must be a file of at most {most} KiB")));
    }
    std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))
}

pub(super) fn check_slug(slug: &str) -> Result<(), RegistryError> {
    if slug.parse::<Slug>().is_ok() {
        return Ok(());
    }
    let words = "a slug has at most 64 lowercase letters, digits and -, and begins and ends with a letter or digit";
    Err(RegistryError::Wrong(words.into()))
}

fn check_folder(folder: &Path) -> Result<(), RegistryError> {
    if folder.is_absolute() && folder.is_dir() {
        return Ok(());
    }
    let shown = folder.display();
    let words = format!("{shown} is not a folder; give one that is there, by its whole path");
    Err(RegistryError::Wrong(words))
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
) -> Result<BTreeMap<String, (T, KeptIn)>> {
    let rows = store.list::<T>(prefix, None, MOST).await?;
    let added = rows.into_iter().map(|(key, row)| {
        let name = key.trim_start_matches(prefix).to_owned();
        (name, (row.value, KeptIn::Added))
    });
    let configured = settings
        .iter()
        .map(|(name, one)| (name.clone(), (one.clone(), KeptIn::Config)));
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
