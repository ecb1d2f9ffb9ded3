//! A file that is being fetched: what there is of it, and that only one process works on it.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::{ModelName, Shelf, WeightsError};

/// The right to fetch a model, held by one process at a time; given back on drop.
#[derive(Debug)]
pub(super) struct Claim {
    _lock: File,
    /// What was fetched so far.
    pub(super) part: PathBuf,
    /// What that is.
    origin: PathBuf,
    /// Where weights are unpacked.
    pub(super) unpacked: PathBuf,
}

/// What a part is a part of.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Origin {
    /// A hash that must come out, or a URL.
    pub(super) source: String,
    /// What the server calls this version of the file.
    pub(super) validator: Option<String>,
}

impl Claim {
    /// Takes the right, or says that someone has it.
    pub(super) fn take(shelf: &Shelf, name: &ModelName) -> Result<Self, WeightsError> {
        shelf.make_folder()?;
        // No name of a model begins with a dot, so these are nobody's weights.
        let place = |kind: &str| shelf.folder().join(format!(".{name}.{kind}"));
        let path = place("lock");
        let failed = WeightsError::io(&path);
        let mut options = OpenOptions::new();
        // It stays when the right is given back: a lock that is deleted can be had twice.
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

    /// How much is there already of this file, and what the server called it.
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

    /// Begins with nothing, for this file.
    pub(super) fn begin(&self, origin: &Origin) -> Result<(), WeightsError> {
        self.discard()?;
        let text = serde_json::to_vec(origin).unwrap_or_default();
        gangway_core::whole::write(&self.origin, &text).map_err(WeightsError::io(&self.origin))
    }

    /// Forgets what was fetched.
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

/// Does slow work off the runtime's threads. The work is told when nobody waits for it any more.
pub(super) async fn apart<T: Send + 'static>(
    work: impl FnOnce(&dyn Fn() -> bool) -> Result<T, WeightsError> + Send + 'static,
) -> Result<T, WeightsError> {
    let (answer, waiting) = oneshot::channel();
    tokio::task::spawn_blocking(move || {
        let result = work(&|| !answer.is_closed());
        let _ = answer.send(result);
    });
    let lost = |_| WeightsError::refused(&"the work on the weights", "was given up");
    waiting.await.map_err(lost)?
}

/// Whether so many more bytes fit into a folder. Where that cannot be told, writing will show.
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
