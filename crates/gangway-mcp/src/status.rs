//! How a server is, for people to see.

use jiff::Timestamp;

use crate::spec::ServerId;

/// What a server is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Nothing: it was stopped, or never started.
    Stopped,
    /// It starts, or waits to be started again after it failed.
    Starting {
        /// How often it failed in a row.
        failures: u32,
        /// Why it did the last time.
        reason: Option<String>,
    },
    /// Its tools can be called.
    Ready,
    /// It wants a person to log in first.
    Unauthorized,
    /// It failed too often and is left alone.
    Failed {
        /// Why.
        reason: String,
        /// How often it was tried.
        tries: u32,
    },
}

/// What a server says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// Its own name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// Its version.
    pub version: String,
}

/// How a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Its name here.
    pub id: ServerId,
    /// What it is doing.
    pub state: State,
    /// Since when.
    pub since: Timestamp,
    /// The revision of the protocol that was agreed on.
    pub protocol: Option<String>,
    /// What it says it is.
    pub server: Option<Described>,
    /// What it says about its use.
    pub instructions: Option<String>,
    /// How many tools it lists.
    pub tools: usize,
    /// The id of its process, or of the guard of its process.
    pub process: Option<u32>,
    /// Whether a person has logged in at it.
    pub logged_in: bool,
    /// Whether it refused a call until a person logs in again, for more than was granted.
    pub wants_more: bool,
}
