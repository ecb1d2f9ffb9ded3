//! Why a request for an agent came to nothing.

use super::AgentId;

/// Why there is none.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NotMade {
    /// They are switched off.
    #[error("remote agents are switched off here")]
    Disabled,
    /// No such project.
    #[error("there is no project {0:?}; `gangway project list` shows what there is")]
    NoProject(String),
    /// No such persona, or it is switched off.
    #[error("there is no active persona {0:?}; `gangway persona list` shows what there is")]
    NoPersona(String),
    /// As many as there may be.
    #[error("{0}")]
    TooMany(String),
    /// It was not ready in time.
    #[error("the agent was not ready within {0} seconds, and nothing is left of it")]
    TooLate(u64),
    /// A name of a request that stood for another one.
    #[error("this Idempotency-Key was used for another request; use a new one")]
    OtherRequest,
    /// The agent that this request made has ended.
    #[error("the agent that this request made has ended; use a new Idempotency-Key for another")]
    Over,
    /// The pane cannot be adopted.
    #[error("{0}")]
    NotAdoptable(String),
    /// It is an agent already.
    #[error("this pane is adopted already, by the agent {0}; end that one first")]
    AlreadyAdopted(AgentId),
    /// Nobody waits for it any more.
    #[error("nobody waits for this agent any more")]
    Left,
    /// tmux is not there, or the server stops.
    #[error("{0}")]
    Unavailable(String),
    /// Something else.
    #[error("{0}")]
    Failed(String),
}

impl From<gangway_core::Error> for NotMade {
    fn from(error: gangway_core::Error) -> Self {
        match error {
            gangway_core::Error::Stopping => Self::Unavailable(error.to_string()),
            error => Self::Failed(error.to_string()),
        }
    }
}
