//! Removes servers with everything that was installed for them, and changes their secrets.

use std::{collections::BTreeMap, sync::Arc};

use gangway_secrets::{SecretName, SecretsError, parse_value};
use secrecy::SecretString;

use super::secret::START;
use crate::{Tools, entry::ServerEntry, file::FileError, login::Tokens};

/// Why secrets of a server were not stored.
#[derive(Debug, thiserror::Error)]
pub enum SecretChangeError {
    /// No such server.
    #[error("server {0} not found")]
    NoServer(String),
    /// No such secret.
    #[error("unknown secret {name:?} of {id}; use one of: {known}")]
    Unknown {
        /// The server.
        id: String,
        /// The requested name.
        name: String,
        /// The existing names.
        known: String,
    },
    /// A value is invalid, or cannot be stored.
    #[error(transparent)]
    Secret(#[from] SecretsError),
}

impl Tools {
    /// Removes an added server: stops it, and removes its package, secrets and login.
    pub async fn uninstall(self: &Arc<Self>, id: &str) -> Result<(), FileError> {
        let (file, name) = (self.file.clone(), id.to_owned());
        let removed = tokio::task::spawn_blocking(move || file.remove(&name)).await;
        let entry = removed.unwrap_or_else(|_| Err(FileError::NotFound(id.to_owned())))?;
        // The server stops before its program is removed.
        self.reload().await;
        let installed = entry.installed.unwrap_or_default();
        let names = installed.secrets.values();
        let names = names.filter(|name| name.starts_with(START));
        let names = names.filter_map(|name| SecretName::parse(name).ok());
        // An invalid server id has neither a login nor a folder.
        let parsed = id.parse::<gangway_mcp::ServerId>().ok();
        let login = parsed.as_ref().and_then(Tokens::name);
        self.forget(names.chain(login).collect()).await;
        if installed.package.is_some() && parsed.is_some() {
            let folder = self.packages.join(id);
            if let Err(error) = tokio::fs::remove_dir_all(&folder).await {
                tracing::warn!(folder = %folder.display(), %error, "cannot remove a package");
            }
        }
        Ok(())
    }

    /// Removes packages that no server uses: leftovers of installs that were killed.
    pub async fn sweep(self: &Arc<Self>) {
        let tools = Arc::clone(self);
        let swept = tokio::task::spawn_blocking(move || {
            // Without the list of servers, it is unknown which packages they use.
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

    /// Deletes secrets.
    pub(super) async fn forget(&self, names: Vec<SecretName>) {
        let secrets = self.secrets.clone();
        let forget = move || {
            for name in &names {
                if let Err(error) = secrets.remove(name) {
                    tracing::warn!(%name, %error, "cannot delete a secret");
                }
            }
        };
        let _ = tokio::task::spawn_blocking(forget).await;
    }

    /// Stores new values of a server's secrets, and restarts it.
    pub async fn set_secrets(
        self: &Arc<Self>,
        id: &str,
        values: BTreeMap<String, String>,
    ) -> Result<(), SecretChangeError> {
        let known = self.known();
        let entry = known.entries.get(id);
        let entry =
            entry.ok_or_else(|| SecretChangeError::NoServer(id.chars().take(80).collect()))?;
        let mut stored: Vec<(SecretName, SecretString)> = Vec::new();
        for (name, value) in values {
            let own = secret_of(entry, &name).ok_or_else(|| unknown(id, &name, entry))?;
            stored.push((SecretName::parse(&own)?, parse_value(&value.into())?));
        }
        let secrets = self.secrets.clone();
        let set = move || -> Result<(), SecretsError> {
            for (name, value) in &stored {
                secrets.set(name, value)?;
            }
            Ok(())
        };
        let set = tokio::task::spawn_blocking(set).await;
        let parsed: Option<gangway_mcp::ServerId> = id.parse().ok();
        // A server that failed with the old secret is retried as well.
        if let Some(id) = &parsed {
            self.host.stop(id).await;
        }
        self.reload().await;
        if let Some(id) = &parsed {
            self.host.start(id);
        }
        match set {
            Ok(set) => Ok(set?),
            Err(_) => Err(SecretsError::BadValue("internal error").into()),
        }
    }
}

/// The name of a secret: that of an input, or one that the entry itself uses.
fn secret_of(entry: &ServerEntry, name: &str) -> Option<String> {
    let installed = entry.installed.as_ref();
    let own = installed.and_then(|installed| installed.secrets.get(name));
    own.cloned()
        .or_else(|| entry.secrets().contains(name).then(|| name.to_owned()))
}

fn unknown(id: &str, name: &str, entry: &ServerEntry) -> SecretChangeError {
    let installed = entry.installed.clone().unwrap_or_default().secrets;
    let known: Vec<String> = match installed.is_empty() {
        true => entry.secrets().into_iter().collect(),
        false => installed.into_keys().collect(),
    };
    SecretChangeError::Unknown {
        id: id.to_owned(),
        name: name.chars().take(80).collect(),
        known: match known.is_empty() {
            true => "none".to_owned(),
            false => known.join(", "),
        },
    }
}
