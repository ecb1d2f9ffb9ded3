//! Errors of secrets. No error contains a value.

use std::{io, path::PathBuf};

/// Why a secret cannot be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// An invalid name.
    #[error(
        "{0:?} is not a valid name of a secret; use 1 to 64 letters, digits, underscores, dots and hyphens"
    )]
    BadName(String),
    /// An invalid value.
    #[error("invalid secret: {0}")]
    BadValue(&'static str),
    /// Others can access it.
    #[error(
        "{path} is accessible to other users (mode {mode:03o}) and was not used; run: chmod {wanted:03o} '{path}'",
        path = path.display()
    )]
    Open {
        /// The file or folder.
        path: PathBuf,
        /// Its mode.
        mode: u32,
        /// The mode it must have.
        wanted: u32,
    },
    /// It belongs to another user.
    #[error(
        "{path} belongs to another user (uid {owner}) and was not used; if that is you, run: sudo chown \"$(id -u)\" '{path}'",
        path = path.display()
    )]
    Foreign {
        /// The file or folder.
        path: PathBuf,
        /// The uid of its owner.
        owner: u32,
    },
    /// The path is not a regular file or folder.
    #[error("{path} is {what} and was not used; move it away", path = path.display())]
    Misplaced {
        /// The path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// The file is invalid.
    #[error("{path} is invalid (line {line}); fix it or move it away", path = path.display())]
    Garbled {
        /// The file.
        path: PathBuf,
        /// The line of the error.
        line: usize,
    },
    /// The keyring failed.
    #[error(
        "cannot use the system keyring: {0}; unlock it, start one such as gnome-keyring, or set `secrets: file` in config.yaml"
    )]
    Keyring(String),
    /// A file or folder cannot be accessed.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}
