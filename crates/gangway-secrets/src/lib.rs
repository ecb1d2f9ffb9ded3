//! API keys of model providers and other secrets: stored in a private file or in the system keyring, read by name.

mod error;
mod file;
mod keyring;
mod name;
mod placeholder;
mod private;

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

pub use error::SecretsError;
pub use name::{SecretName, parse_value};
pub use placeholder::{MissingSecret, fill_placeholders};

/// Where secrets are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecretStore {
    /// A file that only its owner can read.
    #[default]
    File,
    /// The system keyring.
    Keyring,
}

/// The secrets of a data folder.
///
/// Each call reads the current state, so that a server sees the changes of commands. Calls block: a file is read, or
/// the keyring is queried, which may ask the user to unlock it.
#[derive(Debug, Clone)]
pub struct Secrets {
    folder: PathBuf,
    place: SecretStore,
}

/// A secret without its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretInfo {
    /// Its name.
    pub name: SecretName,
    /// When it was set.
    pub set_at: Timestamp,
}

impl Secrets {
    /// The secrets of this data folder, which need not exist yet.
    #[must_use]
    pub fn open(data: &Path, place: SecretStore) -> Self {
        Self {
            folder: data.join("secrets"),
            place,
        }
    }

    /// Reads a secret.
    pub fn get(&self, name: &SecretName) -> Result<Option<SecretString>, SecretsError> {
        match self.place {
            SecretStore::File => file::get(&self.folder, name),
            SecretStore::Keyring => keyring::get(&self.folder, name),
        }
    }

    /// Stores or replaces a secret; validate the value with [`parse_value`].
    pub fn set(&self, name: &SecretName, value: &SecretString) -> Result<(), SecretsError> {
        let _lock = self.lock()?;
        match self.place {
            SecretStore::File => file::set(&self.folder, name, value),
            SecretStore::Keyring => keyring::set(&self.folder, name, value),
        }
    }

    /// All names, without values.
    pub fn list(&self) -> Result<Vec<SecretInfo>, SecretsError> {
        match self.place {
            SecretStore::File => file::list(&self.folder),
            SecretStore::Keyring => keyring::list(&self.folder),
        }
    }

    /// Deletes a secret; false if it does not exist.
    pub fn remove(&self, name: &SecretName) -> Result<bool, SecretsError> {
        if self.list()?.iter().all(|listed| listed.name != *name) {
            return Ok(false);
        }
        let _lock = self.lock()?;
        match self.place {
            SecretStore::File => file::remove(&self.folder, name),
            SecretStore::Keyring => keyring::remove(&self.folder, name),
        }
    }

    /// One writer at a time, or concurrent changes would be lost.
    fn lock(&self) -> Result<File, SecretsError> {
        private::make_folder(&self.folder)?;
        private::lock(&self.folder.join("lock"))
    }
}
