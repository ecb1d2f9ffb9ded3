//! Errors of model weights, worded for people.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::gguf::grouped;

#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    #[error(
        "{0:?} cannot be the name of a model; use 1 to 100 lower case letters, digits, dots, underscores and hyphens, beginning with a letter or digit (\"default\" is taken)"
    )]
    BadName(String),
    #[error("a model named {0} already exists; remove it first, or choose another name")]
    Taken(String),
    #[error("model {0} not found; list the models with `gangway models list`")]
    NotFound(String),
    /// Neither a known model nor a URL.
    #[error("{requested:?} is neither a URL nor a known model; known models: {known}")]
    Unknown { requested: String, known: String },
    #[error("{url} cannot be downloaded: {reason}")]
    BadUrl {
        /// Without secrets.
        url: String,
        reason: String,
    },
    /// Another process downloads the same model.
    #[error("{0} is already being downloaded; wait until that is done")]
    Busy(String),
    #[error("{path} {reason}", path = path.display())]
    Unusable {
        path: PathBuf,
        /// A verb phrase that follows the path.
        reason: String,
    },
    /// The server refused, or sent something else.
    #[error("{at} {reason}")]
    Refused {
        /// The URL without secrets.
        at: String,
        reason: String,
    },
    /// The connection failed too often. The partial download is kept.
    #[error("{at} {reason}; the partial download is kept; try again to resume it")]
    Broken { at: String, reason: String },
    #[error(
        "{what} has the hash {found}, but {expected} is expected; it was changed on the way or at its source, and is not used"
    )]
    WrongHash {
        what: String,
        found: String,
        expected: String,
    },
    #[error("{what} is expected to have {} bytes, but {found}", grouped(*.expected))]
    WrongSize {
        what: String,
        expected: u64,
        /// The actual size, in words.
        found: String,
    },
    #[error("{what} cannot be unpacked: {reason}")]
    BadArchive { what: String, reason: String },
    #[error("not enough disk space in {place}: {}; free some and try again, the partial download is kept", .needed.map_or("the disk is full".to_owned(), |bytes| format!("{} more bytes are needed", grouped(bytes))), place = place.display())]
    NoRoom {
        place: PathBuf,
        /// If known.
        needed: Option<u64>,
    },
    #[error("{path}: {error}", path = path.display())]
    Io { path: PathBuf, error: io::Error },
}

impl WeightsError {
    /// Maps I/O errors; a full disk becomes `NoRoom`.
    pub(super) fn io(path: &Path) -> impl Fn(io::Error) -> Self {
        move |error| match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoRoom {
                place: path.parent().unwrap_or(path).to_owned(),
                needed: None,
            },
            _ => Self::Io {
                path: path.to_owned(),
                error,
            },
        }
    }

    pub(super) fn refused(at: &impl ToString, reason: impl Into<String>) -> Self {
        Self::Refused {
            at: at.to_string(),
            reason: reason.into(),
        }
    }
}
