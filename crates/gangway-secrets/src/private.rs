//! Files and folders that only their owner can access.

use std::{
    fs::{File, Metadata, OpenOptions},
    io::{ErrorKind, Read},
    path::Path,
};

use zeroize::Zeroizing;

use super::SecretsError;

/// Far more than all keys of a user.
const MAX_FILE: u64 = 16 << 20;

fn failed(path: &Path) -> impl Fn(std::io::Error) -> SecretsError {
    move |error| SecretsError::Io {
        path: path.to_owned(),
        error,
    }
}

/// Creates the folder if necessary, and rejects one that others can access.
pub(super) fn make_folder(folder: &Path) -> Result<(), SecretsError> {
    gangway_files::make_private_folder(folder).map_err(failed(folder))?;
    check_folder(folder)
}

fn check_folder(folder: &Path) -> Result<(), SecretsError> {
    let there = std::fs::metadata(folder).map_err(failed(folder))?;
    check(folder, &there, 0o700)
}

/// Locks the secrets against other processes.
pub(super) fn lock(path: &Path) -> Result<File, SecretsError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let lock = options.open(path).map_err(failed(path))?;
    lock.lock().map_err(failed(path))?;
    Ok(lock)
}

/// The contents of a file, if it exists and only its owner can access it.
pub(super) fn read(path: &Path) -> Result<Option<Zeroizing<Vec<u8>>>, SecretsError> {
    let there = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        there => there.map_err(failed(path))?,
    };
    let misplaced = |what| SecretsError::Misplaced {
        path: path.to_owned(),
        what,
    };
    if there.is_symlink() {
        return Err(misplaced("a symbolic link"));
    }
    if !there.is_file() {
        return Err(misplaced("not a file"));
    }
    if let Some(folder) = path.parent() {
        check_folder(folder)?;
    }
    let file = File::open(path).map_err(failed(path))?;
    // Checks the open file, since the path may have been replaced.
    let opened = file.metadata().map_err(failed(path))?;
    check(path, &opened, 0o600)?;
    if opened.len() > MAX_FILE {
        return Err(misplaced("far too large"));
    }
    // Allocated at once: growing would leave copies in memory.
    let mut bytes = Zeroizing::new(Vec::with_capacity(opened.len() as usize + 1));
    file.take(MAX_FILE)
        .read_to_end(&mut bytes)
        .map_err(failed(path))?;
    Ok(Some(bytes))
}

/// Writes a file atomically, for its owner only.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), SecretsError> {
    gangway_core::atomic_file::write(path, bytes).map_err(failed(path))
}

#[cfg(unix)]
fn check(path: &Path, there: &Metadata, wanted: u32) -> Result<(), SecretsError> {
    use std::os::unix::fs::MetadataExt;
    let owner = there.uid();
    if owner != rustix::process::geteuid().as_raw() {
        return Err(SecretsError::Foreign {
            path: path.to_owned(),
            owner,
        });
    }
    let mode = there.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(SecretsError::Open {
            path: path.to_owned(),
            mode,
            wanted,
        });
    }
    Ok(())
}

/// Elsewhere a user's folder is private by default.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "the Unix version fails")]
fn check(_path: &Path, _there: &Metadata, _wanted: u32) -> Result<(), SecretsError> {
    Ok(())
}
