//! The file of added servers in the data folder, in the common JSON form of MCP hosts.

use std::{
    collections::BTreeMap,
    fs::File,
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    approvals::ApprovalPolicy,
    entry::{BadEntry, ServerEntry},
};

/// The file.
#[derive(Debug, Clone)]
pub struct ServersFile {
    path: PathBuf,
}

/// Its contents.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Servers {
    /// The servers by id.
    #[serde(rename = "mcpServers", default)]
    pub servers: BTreeMap<String, ServerEntry>,
}

/// Why servers cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// An entry is invalid.
    #[error(transparent)]
    Entry(#[from] BadEntry),
    /// An id is in use.
    #[error("a server named {0} already exists; remove it first: gangway mcp remove {0}")]
    Taken(String),
    /// No such server.
    #[error("server {0} not found; `gangway mcp list` shows all servers")]
    NotFound(String),
    /// The file is invalid.
    #[error("invalid file {path}: {reason}", path = path.display())]
    Garbled {
        /// The file.
        path: PathBuf,
        /// Where and why.
        reason: String,
    },
    /// The file cannot be read or written.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl ServersFile {
    /// The file of a data folder.
    #[must_use]
    pub fn of(data: &Path) -> Self {
        Self {
            path: data.join("mcp").join("servers.json"),
        }
    }

    /// Its contents; empty if it does not exist.
    pub fn read(&self) -> Result<Servers, FileError> {
        match std::fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Servers::default()),
            Err(error) => Err(self.broken(error)),
            Ok(text) => serde_json::from_slice(&text).map_err(|error| FileError::Garbled {
                path: self.path.clone(),
                reason: error.to_string(),
            }),
        }
    }

    /// Adds servers, all or none.
    pub fn add(&self, more: BTreeMap<String, ServerEntry>, replace: bool) -> Result<(), FileError> {
        self.change(|servers| {
            for (id, mut entry) in more {
                entry.check(&id)?;
                // Metadata from elsewhere could name secrets that would be removed with the server.
                entry.installed = None;
                if !replace && servers.contains_key(&id) {
                    return Err(FileError::Taken(id));
                }
                servers.insert(id, entry);
            }
            Ok(())
        })
    }

    /// Adds a server with the installer's metadata.
    pub fn install(&self, id: &str, entry: ServerEntry) -> Result<(), FileError> {
        self.change(|servers| {
            entry.check(id)?;
            if servers.contains_key(id) {
                return Err(FileError::Taken(id.to_owned()));
            }
            servers.insert(id.to_owned(), entry);
            Ok(())
        })
    }

    /// Sets the approval policy of a server.
    pub fn set_approval(&self, id: &str, policy: ApprovalPolicy) -> Result<(), FileError> {
        self.change(|servers| match servers.get_mut(id) {
            Some(entry) => {
                entry.approval = Some(policy);
                Ok(())
            }
            None => Err(FileError::NotFound(id.to_owned())),
        })
    }

    /// Removes a server, and returns its entry.
    pub fn remove(&self, id: &str) -> Result<ServerEntry, FileError> {
        self.change(|servers| match servers.remove(id) {
            Some(entry) => Ok(entry),
            None => Err(FileError::NotFound(id.to_owned())),
        })
    }

    /// Changes the file under a lock.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, ServerEntry>) -> Result<T, FileError>,
    ) -> Result<T, FileError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        gangway_files::make_private_folder(folder).map_err(|error| self.broken(error))?;
        let lock =
            File::create(folder.join(".servers.lock")).map_err(|error| self.broken(error))?;
        lock.lock().map_err(|error| self.broken(error))?;
        let mut servers = self.read()?;
        let changed = change(&mut servers.servers)?;
        let text = serde_json::to_vec_pretty(&servers).unwrap_or_default();
        gangway_core::atomic_file::write(&self.path, &text).map_err(|error| self.broken(error))?;
        Ok(changed)
    }

    fn broken(&self, error: io::Error) -> FileError {
        FileError::Io {
            path: self.path.clone(),
            error,
        }
    }
}
