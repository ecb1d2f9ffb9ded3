//! The data folder: private, locked by one process, with a note about its server.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    path::{Path, PathBuf},
};

use gangway_files::make_private_folder;
use serde::{Deserialize, Serialize};

/// The locked file, which also contains the note.
const LOCK: &str = "server.lock";

/// A data folder locked by this process; released on drop.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    lock: File,
}

/// The running server of a data folder, for commands that use it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerNote {
    /// Its process id.
    pub pid: u32,
    /// Its URL.
    pub url: String,
    /// Authenticates commands of the same user; readable by the owner only.
    pub token: String,
    /// Whether it was started for a browser, and yields to one that a user starts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub for_browser: bool,
}

impl ServerNote {
    /// The note in this data folder, while a server is running.
    #[must_use]
    pub fn read(data: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(data.join(LOCK)).ok()?;
        serde_json::from_str(&text).ok()
    }
}

/// Free space in bytes for this user in the file system of a folder.
#[cfg(unix)]
pub fn free_bytes(folder: &Path) -> std::io::Result<u64> {
    let about = rustix::fs::statvfs(folder)?;
    Ok(about.f_bavail.saturating_mul(about.f_frsize))
}

/// Not implemented here.
#[cfg(not(unix))]
pub fn free_bytes(_: &Path) -> std::io::Result<u64> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Why a data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// It is locked by another process.
    #[error("{path} is in use by another Gangway process{place}; stop it, or choose another folder with --data", path = path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
        /// ` (pid 1 at http://…)` if known.
        place: String,
        /// The note of that process.
        server: Option<ServerNote>,
    },
    /// It cannot be created, read or written.
    #[error("cannot use {path} as the data folder: {reason}; choose another with --data or GANGWAY_DATA", path = path.display())]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl DataFolder {
    /// Locks the folder; creates it if necessary.
    pub fn take(path: &Path) -> Result<Self, DataError> {
        let unusable = |e: std::io::Error| DataError::Unusable {
            path: path.to_owned(),
            reason: e.to_string(),
        };
        make_private_folder(path).map_err(unusable)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = path.join(LOCK);
        // Through a link, this could overwrite another user's file.
        if file.is_symlink() {
            return Err(DataError::Unusable {
                path: path.to_owned(),
                reason: "server.lock in it is a symbolic link".into(),
            });
        }
        let mut lock = options.open(file).map_err(unusable)?;
        #[cfg(unix)]
        lock.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let _ = lock.read_to_string(&mut text);
                let server: Option<ServerNote> = serde_json::from_str(&text).ok();
                let place = server
                    .as_ref()
                    .map(|s| format!(" (process {} at {})", s.pid, s.url))
                    .unwrap_or_default();
                return Err(DataError::InUse {
                    path: path.to_owned(),
                    place,
                    server,
                });
            }
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
        let mut folder = Self {
            path: path.to_owned(),
            lock,
        };
        folder.write_note("").map_err(unusable)?;
        Ok(folder)
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Publishes the server's URL for commands.
    pub fn announce(&mut self, note: &ServerNote) -> std::io::Result<()> {
        self.write_note(&serde_json::to_string(note)?)
    }

    fn write_note(&mut self, text: &str) -> std::io::Result<()> {
        self.lock.set_len(0)?;
        self.lock.rewind()?;
        self.lock.write_all(text.as_bytes())?;
        self.lock.flush()
    }
}

impl Drop for DataFolder {
    fn drop(&mut self) {
        // A stale note would direct commands to the next user of the port.
        let _ = self.write_note("");
    }
}
