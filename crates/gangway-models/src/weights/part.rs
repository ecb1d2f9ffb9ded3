//! A partial download, locked by one process.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::{ModelName, WeightsError, WeightsStore};

/// The exclusive right to download a model, released on drop.
#[derive(Debug)]
pub(super) struct Claim {
    _lock: File,
    /// The partial download.
    pub(super) part: PathBuf,
    /// What it is a part of.
    origin: PathBuf,
    pub(super) unpacked: PathBuf,
}

/// What a partial download belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Origin {
    /// The expected hash, or a URL.
    pub(super) source: String,
    /// The server's validator (ETag) for this version of the file.
    pub(super) validator: Option<String>,
}

impl Claim {
    /// Fails when another process has it.
    pub(super) fn take(store: &WeightsStore, name: &ModelName) -> Result<Self, WeightsError> {
        store.make_folder()?;
        // Names of models do not begin with a dot.
        let place = |kind: &str| store.folder().join(format!(".{name}.{kind}"));
        let path = place("lock");
        let failed = WeightsError::io(&path);
        let mut options = OpenOptions::new();
        // The lock file stays: two processes could lock a deleted one and a new one.
        let lock = options.create(true).truncate(false).write(true).open(&path);
        let lock = lock.map_err(&failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(WeightsError::Busy(name.to_string())),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        Ok(Self {
            _lock: lock,
            part: place("part"),
            origin: place("part.json"),
            unpacked: place("unpacked"),
        })
    }

    /// How much of this file exists, and its validator.
    pub(super) fn so_far(&self, source: &str) -> (u64, Option<String>) {
        let read = || serde_json::from_slice::<Origin>(&fs::read(&self.origin).ok()?).ok();
        match read().filter(|origin| origin.source == source) {
            Some(origin) => {
                let there = fs::metadata(&self.part).map_or(0, |file| file.len());
                (there, origin.validator)
            }
            None => (0, None),
        }
    }

    /// Starts an empty download of this file.
    pub(super) fn begin(&self, origin: &Origin) -> Result<(), WeightsError> {
        self.discard()?;
        let text = serde_json::to_vec(origin).unwrap_or_default();
        gangway_core::atomic_file::write(&self.origin, &text)
            .map_err(WeightsError::io(&self.origin))
    }

    pub(super) fn discard(&self) -> Result<(), WeightsError> {
        for path in [&self.origin, &self.part, &self.unpacked] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(WeightsError::io(path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Runs blocking work on another thread, which is notified when the caller is gone.
pub(super) async fn apart<T: Send + 'static>(
    work: impl FnOnce(&dyn Fn() -> bool) -> Result<T, WeightsError> + Send + 'static,
) -> Result<T, WeightsError> {
    let (answer, waiting) = oneshot::channel();
    tokio::task::spawn_blocking(move || {
        let result = work(&|| !answer.is_closed());
        let _ = answer.send(result);
    });
    let lost = |_| WeightsError::refused(&"the work on the weights", "was cancelled");
    waiting.await.map_err(lost)?
}

/// Checks for free disk space. Where it is unknown, writing will tell.
pub(super) fn ensure_room(folder: &Path, bytes: u64) -> Result<(), WeightsError> {
    #[cfg(unix)]
    if let Ok(system) = rustix::fs::statvfs(folder) {
        let free = system.f_bavail.saturating_mul(system.f_frsize);
        if free < bytes {
            return Err(WeightsError::NoRoom {
                place: folder.to_owned(),
                needed: Some(bytes - free),
            });
        }
    }
    let _ = (folder, bytes);
    Ok(())
}
