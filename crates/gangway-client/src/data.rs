//! The data folder: made private, locked by one process at a time, with a note that says where its server is.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    path::{Path, PathBuf},
};

use gangway_files::make_private_folder;
use serde::{Deserialize, Serialize};

/// The file that is locked, and holds the note.
const LOCK: &str = "server.lock";

/// A data folder that this process owns; released on drop.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    lock: File,
}

/// Where the server of a data folder is, for commands that go through it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerNote {
    /// Its process.
    pub pid: u32,
    /// Its address.
    pub url: String,
    /// What lets a command of the same user in; readable by the owner alone.
    pub token: String,
    /// Whether it was started for a browser, and makes room for one that a person starts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub for_browser: bool,
}

impl ServerNote {
    /// The note in this data folder, while a server has it.
    #[must_use]
    pub fn read(data: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(data.join(LOCK)).ok()?;
        serde_json::from_str(&text).ok()
    }
}

/// Bytes that this user can still write into the file system of a folder.
#[cfg(unix)]
pub fn free_bytes(folder: &Path) -> std::io::Result<u64> {
    let about = rustix::fs::statvfs(folder)?;
    Ok(about.f_bavail.saturating_mul(about.f_frsize))
}

/// Not known here.
#[cfg(not(unix))]
pub fn free_bytes(_: &Path) -> std::io::Result<u64> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Why a data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// Another process has it.
    #[error("{path} is in use by another Gangway process{place}; stop it, or choose another folder with --data", path = path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
        /// ` (pid 1 at http://…)` where that is known.
        place: String,
        /// The note of the process that has it.
        server: Option<ServerNote>,
    },
    /// It cannot be made, read or written.
    #[error("{path} cannot be used as the data folder: {reason}; choose another with --data or GANGWAY_DATA", path = path.display())]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl DataFolder {
    /// Takes the folder, making it if needed.
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
        // Through a link, what is written here would land in somebody else's file.
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

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Tells other commands where the server of this folder is.
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
        // A note without a server would send commands to whoever has the port next.
        let _ = self.write_note("");
    }
}
