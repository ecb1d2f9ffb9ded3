//! Everything that can go wrong with a session or its store, as facts.

use std::path::PathBuf;

use crate::id::{LaunchId, SessionId};

/// What core answers with.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A fact about why something could not be done; each door maps it to its own codes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No session has this id.
    #[error("there is no session {0}")]
    SessionNotFound(SessionId),
    /// No launch has this id, or it ended long ago.
    #[error("there is no launch {0}")]
    LaunchNotFound(LaunchId),
    /// Lists and objects stand too deeply in each other.
    #[error("lists and objects may stand {limit} deep in each other, and no deeper")]
    TooDeep {
        /// How deep.
        limit: usize,
    },
    /// Too many apps were opened in one session.
    #[error("{limit} apps were opened in this session already; begin another one")]
    TooManyLaunches {
        /// The bound.
        limit: usize,
    },
    /// A turn runs and the caller did not want to queue.
    #[error("the session is answering another message; wait for it, stop it, or queue")]
    SessionBusy,
    /// Too many prompts wait already.
    #[error("{limit} messages wait in this session already; wait for one to finish")]
    QueueFull {
        /// How many may wait.
        limit: usize,
    },
    /// The prompts that wait are too long together.
    #[error(
        "the messages that wait in this session are longer than {limit} bytes together; wait for one to finish"
    )]
    QueueTooLong {
        /// How long they may be together.
        limit: usize,
    },
    /// Nobody asked this question, or it was answered already.
    #[error("no open question has the id {0}")]
    QuestionNotFound(String),
    /// No agent has this name.
    #[error("there is no agent named {name:?}; there are: {known}")]
    AgentNotFound {
        /// The name that was asked for.
        name: String,
        /// The names there are, joined by commas.
        known: String,
    },
    /// A record was changed by someone else in between.
    #[error("the record {key} was changed in between; read it again")]
    Conflict {
        /// The record's key.
        key: String,
    },
    /// The answer grew past what one message may hold.
    #[error("the answer is longer than {limit} bytes")]
    AnswerTooLong {
        /// The most a message may hold.
        limit: usize,
    },
    /// The state of an applet would grow past its bound.
    #[error("the state of an applet may not be larger than {limit} bytes of JSON")]
    StateTooLarge {
        /// The bound.
        limit: usize,
    },
    /// Too many applets have a state in one session.
    #[error("{limit} applets have a state in this session already")]
    TooManyApplets {
        /// The bound.
        limit: usize,
    },
    /// The server is stopping.
    #[error("the server is stopping")]
    Stopping,
    /// The disk has no room left.
    #[error("the disk that holds the data folder is full; free some space")]
    StorageFull,
    /// The data folder cannot be written.
    #[error("the data folder cannot be written: {0}")]
    StorageReadOnly(String),
    /// The store failed in some other way.
    #[error("the store failed: {0}")]
    Storage(String),
    /// The data folder belongs to a newer Gangway.
    #[error("{path} was written by a newer Gangway (format {found}; this one knows up to {known}); use that version, or another data folder", path = path.display())]
    NewerData {
        /// The database file.
        path: PathBuf,
        /// The format found.
        found: i64,
        /// The newest format this build knows.
        known: i64,
    },
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::StorageFull,
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::StorageReadOnly(error.to_string())
            }
            _ => Self::Storage(error.to_string()),
        }
    }
}
