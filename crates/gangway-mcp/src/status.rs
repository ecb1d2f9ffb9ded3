//! The status of a server.

use jiff::Timestamp;

use crate::spec::ServerId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Stopped, or never started.
    Stopped,
    /// Starting, or waiting to be restarted after a failure.
    Starting {
        /// Consecutive failures.
        failures: u32,
        /// The last failure.
        reason: Option<String>,
    },
    Ready,
    /// It needs a login.
    Unauthorized,
    /// It failed too often and is not restarted.
    Failed {
        reason: String,
        tries: u32,
    },
}

/// What a server says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerDescription {
    pub name: String,
    /// The display name.
    pub title: Option<String>,
    pub version: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    pub id: ServerId,
    pub state: State,
    pub since: Timestamp,
    /// The negotiated revision of the protocol.
    pub protocol: Option<String>,
    pub server: Option<ServerDescription>,
    /// How to use it, for models.
    pub instructions: Option<String>,
    pub tools: usize,
    /// The process id of the child, or of its guard.
    pub process: Option<u32>,
    /// Whether the user has logged in.
    pub logged_in: bool,
    /// Whether it refused a call for lack of scopes.
    pub wants_more: bool,
}
