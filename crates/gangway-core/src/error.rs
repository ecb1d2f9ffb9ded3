//! Errors of sessions and the store.

use std::path::PathBuf;

use crate::id::{LaunchId, SessionId};

/// Result with an [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed; each protocol maps it to its own codes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No such session.
    #[error("session {0} not found")]
    SessionNotFound(SessionId),
    /// No such launch, or it expired.
    #[error("launch {0} not found")]
    LaunchNotFound(LaunchId),
    /// Nesting is too deep.
    #[error("lists and objects may be nested at most {limit} levels deep")]
    TooDeep {
        /// Maximum depth.
        limit: usize,
    },
    /// Too many apps were launched in one session.
    #[error("this session has reached the limit of {limit} app launches; create another session")]
    TooManyLaunches {
        /// The limit.
        limit: usize,
    },
    /// A turn is running and the caller did not want to queue.
    #[error("a turn is running in this session; wait for it, stop it, or queue the message")]
    SessionBusy,
    /// Too many messages are queued.
    #[error("this session queues at most {limit} messages; retry when one of them was answered")]
    QueueFull {
        /// The limit.
        limit: usize,
    },
    /// The queued messages are too long in total.
    #[error(
        "this session queues at most {limit} bytes of messages; retry when one of them was answered"
    )]
    QueueTooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The question does not exist or was answered.
    #[error("question {0} is not open")]
    QuestionNotFound(String),
    /// No such agent.
    #[error("unknown agent {name:?}; use one of: {known}")]
    AgentNotFound {
        /// The requested name.
        name: String,
        /// The existing names, separated by commas.
        known: String,
    },
    /// The session belongs to its agent.
    #[error("the agent of this session cannot be changed; create another session")]
    AgentFixed,
    /// A record was changed concurrently.
    #[error("the record {key} was changed concurrently; read it again")]
    Conflict {
        /// The record's key.
        key: String,
    },
    /// The answer exceeds the size limit of a message.
    #[error("the answer must be at most {limit} bytes")]
    AnswerTooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The state of an applet exceeds its size limit.
    #[error("the state of an applet must be at most {limit} bytes of JSON")]
    StateTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// Too many applets have a state in one session.
    #[error("at most {limit} applets can have a state in a session")]
    TooManyApplets {
        /// The limit.
        limit: usize,
    },
    /// The server is stopping.
    #[error("the server is stopping")]
    Stopping,
    /// The disk is full.
    #[error("the disk with the data folder is full; free some space")]
    StorageFull,
    /// The data folder is not writable.
    #[error("cannot write to the data folder: {0}")]
    StorageReadOnly(String),
    /// The store failed for another reason.
    #[error("the store failed: {0}")]
    Storage(String),
    /// Stored data is corrupt.
    #[error(
        "stored data is damaged: {0}. `gangway doctor` lists all damage; `gangway restore FILE` restores a backup"
    )]
    Corrupted(Damage),
    /// The data folder belongs to a newer version.
    #[error("{path} was written by a newer Gangway (format {found}, this version supports up to {known}); use that version or another data folder", path = path.display())]
    NewerData {
        /// The database file.
        path: PathBuf,
        /// The format found.
        found: i64,
        /// The newest supported format.
        known: i64,
    },
}

/// Where stored data is damaged, if known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The session.
    pub session: Option<SessionId>,
    /// The number of the event.
    pub event: Option<u64>,
    /// What is wrong with it.
    pub what: String,
}

impl Damage {
    /// Damage in an unknown place.
    pub fn new(what: impl Into<String>) -> Self {
        Self {
            session: None,
            event: None,
            what: what.into(),
        }
    }

    pub(crate) fn of(session: SessionId, event: Option<u64>, what: impl Into<String>) -> Self {
        Self {
            session: Some(session),
            event,
            what: what.into(),
        }
    }
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.session, self.event) {
            (Some(session), Some(event)) => write!(f, "event {event} of session {session}: ")?,
            (Some(session), None) => write!(f, "session {session}: ")?,
            (None, _) => {}
        }
        f.write_str(&self.what)
    }
}

impl Error {
    /// Adds the place to damage; other errors stay.
    pub(crate) fn in_session(self, session: SessionId, event: Option<u64>) -> Self {
        match self {
            Self::Corrupted(damage) if damage.session.is_none() => Self::Corrupted(Damage {
                session: Some(session),
                event,
                ..damage
            }),
            other => other,
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::StorageFull,
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::StorageReadOnly(error.to_string())
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Corrupted(Damage::new(error.to_string()))
            }
            // A value of the wrong type was not written by us.
            None if matches!(
                error,
                rusqlite::Error::FromSqlConversionFailure(..)
                    | rusqlite::Error::IntegralValueOutOfRange(..)
                    | rusqlite::Error::InvalidColumnType(..)
                    | rusqlite::Error::Utf8Error(..)
            ) =>
            {
                Self::Corrupted(Damage::new(error.to_string()))
            }
            _ => Self::Storage(error.to_string()),
        }
    }
}
