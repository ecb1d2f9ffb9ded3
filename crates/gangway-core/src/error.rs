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
    #[error(
        "this session lets at most {limit} messages wait; send this again when one of them was answered"
    )]
    QueueFull {
        /// How many may wait.
        limit: usize,
    },
    /// The prompts that wait are too long together.
    #[error(
        "this session lets at most {limit} bytes of messages wait; send this again when one of them was answered"
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
    /// The session belongs to its agent.
    #[error("the agent of this session cannot be changed; create another session")]
    AgentFixed,
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
    /// What was read is not what was written.
    #[error(
        "stored data is damaged: {0}. `gangway doctor` lists all damage; `gangway restore FILE` brings back a backup"
    )]
    Corrupted(Damage),
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

/// Where stored data is damaged, as far as that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The session whose data it is.
    pub session: Option<SessionId>,
    /// The number of the event.
    pub event: Option<u64>,
    /// What is wrong with it.
    pub what: String,
}

impl Damage {
    /// Damage of which only this is known.
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
    /// The same error; where it is damage, with the place where it was found.
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
            // A value that is not of its column's type was not written by us.
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
