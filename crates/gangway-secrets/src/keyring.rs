//! Secrets in the system keyring. It cannot list our entries, so their names are stored in `names.json`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use jiff::Timestamp;
use keyring_core::{Entry, Error, api::CredentialStoreApi};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use super::{SecretInfo, SecretName, SecretsError, private};

#[cfg(target_os = "macos")]
use apple_native_keyring_store::keychain::Store;
#[cfg(windows)]
use windows_native_keyring_store::Store;
#[cfg(all(unix, not(target_os = "macos")))]
use zbus_secret_service_keyring_store::Store;

/// The service name of our entries.
const SERVICE: &str = "gangway";

#[derive(Default, Serialize, Deserialize)]
struct Names {
    /// Distinguishes the entries of this data folder from those of others.
    id: String,
    secrets: BTreeMap<SecretName, Timestamp>,
}

impl Names {
    fn path(folder: &Path) -> PathBuf {
        folder.join("names.json")
    }

    fn read(folder: &Path) -> Result<Self, SecretsError> {
        let path = Self::path(folder);
        let Some(bytes) = private::read(&path)? else {
            return Ok(Self::default());
        };
        serde_json::from_slice(&bytes).map_err(|error| SecretsError::Garbled {
            path,
            line: error.line(),
        })
    }

    fn write(&self, folder: &Path) -> Result<(), SecretsError> {
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        private::write(&Self::path(folder), &text)
    }

    fn entry(&self, name: &SecretName) -> Result<Entry, SecretsError> {
        let store: Arc<Store> = Store::new().map_err(unusable)?;
        let user = format!("{}/{name}", self.id);
        store.build(SERVICE, &user, None).map_err(unusable)
    }
}

fn unusable(error: Error) -> SecretsError {
    SecretsError::Keyring(match error {
        // These errors contain the stored value.
        Error::BadEncoding(_) | Error::BadDataFormat(..) => "the entry is not text".into(),
        other => other.to_string(),
    })
}

pub(super) fn get(folder: &Path, name: &SecretName) -> Result<Option<SecretString>, SecretsError> {
    let names = Names::read(folder)?;
    if !names.secrets.contains_key(name) {
        return Ok(None);
    }
    match names.entry(name)?.get_password() {
        Ok(value) => Ok(Some(value.into())),
        Err(Error::NoEntry) => Ok(None),
        Err(error) => Err(unusable(error)),
    }
}

pub(super) fn set(
    folder: &Path,
    name: &SecretName,
    value: &SecretString,
) -> Result<(), SecretsError> {
    let mut names = Names::read(folder)?;
    if names.id.is_empty() {
        names.id = format!("{:016x}", rand::random::<u64>());
    }
    let entry = names.entry(name)?;
    entry
        .set_password(value.expose_secret())
        .map_err(unusable)?;
    names.secrets.insert(name.clone(), Timestamp::now());
    names.write(folder)
}

pub(super) fn list(folder: &Path) -> Result<Vec<SecretInfo>, SecretsError> {
    let names = Names::read(folder)?.secrets.into_iter();
    Ok(names
        .map(|(name, set_at)| SecretInfo { name, set_at })
        .collect())
}

pub(super) fn remove(folder: &Path, name: &SecretName) -> Result<bool, SecretsError> {
    let mut names = Names::read(folder)?;
    match names.entry(name)?.delete_credential() {
        // The entry was deleted in the keyring.
        Ok(()) | Err(Error::NoEntry) => {}
        Err(error) => return Err(unusable(error)),
    }
    let known = names.secrets.remove(name).is_some();
    names.write(folder).map(|()| known)
}
