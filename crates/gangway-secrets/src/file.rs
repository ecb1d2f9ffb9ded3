//! Secrets in `credentials.json`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize, Serializer};
use zeroize::Zeroizing;

use super::{SecretInfo, SecretName, SecretsError, private};

#[derive(Default, Serialize, Deserialize)]
struct Credentials {
    secrets: BTreeMap<SecretName, StoredSecret>,
}

#[derive(Serialize, Deserialize)]
struct StoredSecret {
    #[serde(serialize_with = "exposed")]
    value: SecretString,
    set_at: Timestamp,
}

/// The only place where a value is serialized.
fn exposed<S: Serializer>(value: &SecretString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(value.expose_secret())
}

fn path(folder: &Path) -> PathBuf {
    folder.join("credentials.json")
}

fn read(folder: &Path) -> Result<Credentials, SecretsError> {
    let path = path(folder);
    let Some(bytes) = private::read(&path)? else {
        return Ok(Credentials::default());
    };
    // The parser's message could contain a value.
    serde_json::from_slice(&bytes).map_err(|error| SecretsError::Garbled {
        path,
        line: error.line(),
    })
}

fn write(folder: &Path, credentials: &Credentials) -> Result<(), SecretsError> {
    // Allocated at once: growing would leave copies of values in memory.
    let size = |(name, stored): (&SecretName, &StoredSecret)| {
        name.as_str().len() + 6 * stored.value.expose_secret().len() + 200
    };
    let room = credentials.secrets.iter().map(size).sum::<usize>() + 200;
    let mut text = Zeroizing::new(Vec::with_capacity(room));
    serde_json::to_writer_pretty(&mut *text, credentials).map_err(|error| SecretsError::Io {
        path: path(folder),
        error: error.into(),
    })?;
    text.push(b'\n');
    private::write(&path(folder), &text)
}

pub(super) fn get(folder: &Path, name: &SecretName) -> Result<Option<SecretString>, SecretsError> {
    Ok(read(folder)?
        .secrets
        .remove(name)
        .map(|stored| stored.value))
}

pub(super) fn set(
    folder: &Path,
    name: &SecretName,
    value: &SecretString,
) -> Result<(), SecretsError> {
    let mut credentials = read(folder)?;
    let stored = StoredSecret {
        value: value.clone(),
        set_at: Timestamp::now(),
    };
    credentials.secrets.insert(name.clone(), stored);
    write(folder, &credentials)
}

pub(super) fn list(folder: &Path) -> Result<Vec<SecretInfo>, SecretsError> {
    let listed = |(name, stored): (SecretName, StoredSecret)| SecretInfo {
        name,
        set_at: stored.set_at,
    };
    Ok(read(folder)?.secrets.into_iter().map(listed).collect())
}

pub(super) fn remove(folder: &Path, name: &SecretName) -> Result<bool, SecretsError> {
    let mut credentials = read(folder)?;
    if credentials.secrets.remove(name).is_none() {
        return Ok(false);
    }
    write(folder, &credentials).map(|()| true)
}
