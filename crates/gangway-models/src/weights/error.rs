//! What can go wrong with weights, in words for people.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::gguf::grouped;

/// Why weights cannot be fetched, put on the shelf or taken from it.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// A name that no model can have.
    #[error(
        "{0:?} cannot be the name of a model; use 1 to 100 lower case letters, digits, dots, underscores and hyphens, beginning with a letter or digit (\"default\" is taken)"
    )]
    BadName(String),
    /// The name is in use.
    #[error("there is a model named {0} already; remove it first, or choose another name")]
    Taken(String),
    /// No model has this name.
    #[error("there is no model named {0}; `gangway models list` shows those there are")]
    NotFound(String),
    /// Neither a known model nor a URL.
    #[error("{wish:?} is neither a URL nor a known model; known are: {known}")]
    Unknown {
        /// What was asked for.
        wish: String,
        /// The names that are known.
        known: String,
    },
    /// A URL that nothing can be fetched from.
    #[error("{url} cannot be fetched: {reason}")]
    BadUrl {
        /// The URL, without what is secret in it.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Another process fetches the same model.
    #[error("{0} is being fetched already; wait for that to end")]
    Busy(String),
    /// A file that holds no model that can be used.
    #[error("{path} {reason}", path = path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why, as words that follow its name.
        reason: String,
    },
    /// The server did not give what was asked for.
    #[error("{at} {reason}")]
    Refused {
        /// Where it was asked, without what is secret in a URL.
        at: String,
        /// What it did instead.
        reason: String,
    },
    /// The connection failed too often. What was fetched is kept.
    #[error("{at} {reason}; what was fetched so far is kept, so try again")]
    Broken {
        /// Where it was asked.
        at: String,
        /// What happened.
        reason: String,
    },
    /// What was fetched is not what is known by this name.
    #[error(
        "{what} has the hash {found}, but {expected} is expected; it was changed on the way or at its source, and is not used"
    )]
    WrongHash {
        /// Which file.
        what: String,
        /// Its hash.
        found: String,
        /// The hash that is known.
        expected: String,
    },
    /// There is more or less of a file than there should be.
    #[error("{what} is expected to have {} bytes, but {found}", grouped(*.expected))]
    WrongSize {
        /// Which file.
        what: String,
        /// The size that is known.
        expected: u64,
        /// What it has instead, as words.
        found: String,
    },
    /// The archive is not what it should be.
    #[error("{what} cannot be unpacked: {reason}")]
    BadArchive {
        /// Which file.
        what: String,
        /// What is wrong.
        reason: String,
    },
    /// There is no room.
    #[error("{place} has too little room: {}; make room and try again, what was fetched so far is kept", .needed.map_or("it is full".to_owned(), |bytes| format!("{} more bytes are needed", grouped(bytes))), place = place.display())]
    NoRoom {
        /// The folder.
        place: PathBuf,
        /// How much more is needed, where that is known.
        needed: Option<u64>,
    },
    /// A file or folder cannot be used.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl WeightsError {
    /// What went wrong with a file; a full disk has words of its own.
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
