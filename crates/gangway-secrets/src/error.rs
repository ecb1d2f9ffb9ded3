//! Why a secret cannot be kept or given out. No error holds a value.

use std::{io, path::PathBuf};

/// What went wrong with secrets.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// A name that no secret can have.
    #[error(
        "{0:?} cannot be the name of a secret; use 1 to 64 letters, digits, underscores, dots and hyphens"
    )]
    BadName(String),
    /// A value that no secret can have.
    #[error("this cannot be a secret: {0}")]
    BadValue(&'static str),
    /// Others can read it.
    #[error(
        "{path} can be read or changed by others (its mode is {mode:03o}), so nothing is read from it or written to it; run: chmod {wanted:03o} '{path}'",
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
        "{path} belongs to another user (with the number {owner}), so nothing is read from it or written to it; if that is you, run: sudo chown \"$(id -u)\" '{path}'",
        path = path.display()
    )]
    Foreign {
        /// The file or folder.
        path: PathBuf,
        /// The number of its owner.
        owner: u32,
    },
    /// Something else lies where the secrets should.
    #[error("{path} is {what}, so nothing is read from it or written to it; move it away", path = path.display())]
    Misplaced {
        /// Where.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// The file does not hold secrets.
    #[error("{path} cannot be understood (line {line}); mend it or move it away", path = path.display())]
    Garbled {
        /// The file.
        path: PathBuf,
        /// Where it ends to make sense.
        line: usize,
    },
    /// The keyring does not work.
    #[error(
        "the keyring of this system cannot be used: {0}; unlock it or start one such as gnome-keyring, or set `secrets: file` in config.yaml"
    )]
    Keyring(String),
    /// A file or folder cannot be used.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}
