//! Errors of creating an agent.

use super::AgentId;

#[derive(Debug, Clone, thiserror::Error)]
pub enum CreateError {
    #[error("remote agents are disabled on this server (remote_agents.enabled)")]
    Disabled,
    #[error("project {0:?} not found; `gangway project list` shows all projects")]
    NoProject(String),
    #[error("no active persona {0:?}; `gangway persona list` shows all personas")]
    NoPersona(String),
    #[error("{0}")]
    TooMany(String),
    #[error("the agent was not ready within {0} seconds and was removed")]
    TooLate(u64),
    #[error("this Idempotency-Key was used for another request; use a new one")]
    OtherRequest,
    #[error(
        "the agent that this request created has ended; use a new Idempotency-Key to create another"
    )]
    Over,
    #[error("{0}")]
    NotAdoptable(String),
    #[error("this pane is already adopted by the agent {0}; end that agent first")]
    AlreadyAdopted(AgentId),
    /// The client disconnected.
    #[error("the client disconnected before the agent was ready")]
    Left,
    /// tmux is missing, or the server is stopping.
    #[error("{0}")]
    Unavailable(String),
    #[error("{0}")]
    Failed(String),
}

impl From<gangway_core::Error> for CreateError {
    fn from(error: gangway_core::Error) -> Self {
        match error {
            gangway_core::Error::Stopping => Self::Unavailable(error.to_string()),
            error => Self::Failed(error.to_string()),
        }
    }
}
