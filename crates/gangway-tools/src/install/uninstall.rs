//! Removes servers with all that was installed for them, and changes their secrets.

use std::{collections::BTreeMap, sync::Arc};

use gangway_secrets::{SecretName, SecretsError, parse_value};
use secrecy::SecretString;

use super::secret::START;
use crate::{Tools, entry::ServerEntry, file::FileError, login::Tokens};

/// Why secrets of a server are not kept.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    /// There is no such server.
    #[error("there is no server named {0}")]
    NoServer(String),
    /// It has no such secret.
    #[error("{id} has no secret {name:?}; it has {known}")]
    Unknown {
        /// The server.
        id: String,
        /// What was given.
        name: String,
        /// What it has.
        known: String,
    },
    /// A value cannot be one, or cannot be kept.
    #[error(transparent)]
    Secret(#[from] SecretsError),
}

impl Tools {
    /// Removes a server that was added, stops it, and removes what was fetched and kept for it.
    pub async fn uninstall(self: &Arc<Self>, id: &str) -> Result<(), FileError> {
        let (file, name) = (self.file.clone(), id.to_owned());
        let removed = tokio::task::spawn_blocking(move || file.remove(&name)).await;
        let entry = removed.unwrap_or_else(|_| Err(FileError::NotFound(id.to_owned())))?;
        // The server stops before its program goes.
        self.reload().await;
        let installed = entry.installed.unwrap_or_default();
        let names = installed.secrets.values();
        let names = names.filter(|name| name.starts_with(START));
        let names = names.filter_map(|name| SecretName::parse(name).ok());
        // What is no id of a server has no log-in and no folder either.
        let parsed = id.parse::<gangway_mcp::ServerId>().ok();
        let login = parsed.as_ref().and_then(Tokens::name);
        self.forget(names.chain(login).collect()).await;
        if installed.package.is_some() && parsed.is_some() {
            let folder = self.packages.join(id);
            if let Err(error) = tokio::fs::remove_dir_all(&folder).await {
                tracing::warn!(folder = %folder.display(), %error, "a package could not be removed");
            }
        }
        Ok(())
    }

    /// Removes packages that no server needs: what an install had begun when the process was killed.
    pub async fn sweep(self: &Arc<Self>) {
        let tools = Arc::clone(self);
        let swept = tokio::task::spawn_blocking(move || {
            // Without knowing the servers, nobody knows which packages they need.
            let Ok(servers) = tools.file.read() else {
                return;
            };
            let folders = std::fs::read_dir(&tools.packages).into_iter().flatten();
            for folder in folders.flatten() {
                let name = folder.file_name().to_string_lossy().into_owned();
                if !servers.servers.contains_key(&name) && !tools.installs.is_underway(&name) {
                    tracing::info!(name, "removing a package that no server needs");
                    let _ = std::fs::remove_dir_all(folder.path());
                }
            }
        });
        let _ = swept.await;
    }

    /// Forgets secrets.
    pub(super) async fn forget(&self, names: Vec<SecretName>) {
        let secrets = self.secrets.clone();
        let forget = move || {
            for name in &names {
                if let Err(error) = secrets.remove(name) {
                    tracing::warn!(%name, %error, "a secret could not be forgotten");
                }
            }
        };
        let _ = tokio::task::spawn_blocking(forget).await;
    }

    /// Keeps new values for secrets of a server and starts it anew with them.
    pub async fn set_secrets(
        self: &Arc<Self>,
        id: &str,
        values: BTreeMap<String, String>,
    ) -> Result<(), NotKept> {
        let known = self.known();
        let entry = known.entries.get(id);
        let entry = entry.ok_or_else(|| NotKept::NoServer(id.chars().take(80).collect()))?;
        let mut kept: Vec<(SecretName, SecretString)> = Vec::new();
        for (name, value) in values {
            let own = secret_of(entry, &name).ok_or_else(|| unknown(id, &name, entry))?;
            kept.push((SecretName::parse(&own)?, parse_value(&value.into())?));
        }
        let secrets = self.secrets.clone();
        let set = move || -> Result<(), SecretsError> {
            for (name, value) in &kept {
                secrets.set(name, value)?;
            }
            Ok(())
        };
        let set = tokio::task::spawn_blocking(set).await;
        let parsed: Option<gangway_mcp::ServerId> = id.parse().ok();
        // Also one that failed with the same secret before gets another try.
        if let Some(id) = &parsed {
            self.host.stop(id).await;
        }
        self.reload().await;
        if let Some(id) = &parsed {
            self.host.start(id);
        }
        match set {
            Ok(set) => Ok(set?),
            Err(_) => Err(SecretsError::BadValue("this is a fault in Gangway").into()),
        }
    }
}

/// The name under which a secret is kept: that of an input, or one that the entry itself names.
fn secret_of(entry: &ServerEntry, name: &str) -> Option<String> {
    let installed = entry.installed.as_ref();
    let own = installed.and_then(|installed| installed.secrets.get(name));
    own.cloned()
        .or_else(|| entry.secrets().contains(name).then(|| name.to_owned()))
}

fn unknown(id: &str, name: &str, entry: &ServerEntry) -> NotKept {
    let installed = entry.installed.clone().unwrap_or_default().secrets;
    let known: Vec<String> = match installed.is_empty() {
        true => entry.secrets().into_iter().collect(),
        false => installed.into_keys().collect(),
    };
    NotKept::Unknown {
        id: id.to_owned(),
        name: name.chars().take(80).collect(),
        known: match known.is_empty() {
            true => "none".to_owned(),
            false => known.join(", "),
        },
    }
}
