//! Why no agent was created.

use super::AgentId;

#[derive(Debug, Clone, thiserror::Error)]
pub enum CreateError {
    /// They are switched off.
    #[error("remote agents are disabled on this server (remote_agents.enabled)")]
    Disabled,
    /// No such project.
    #[error("there is no project {0:?}; `gangway project list` lists the projects")]
    NoProject(String),
    /// No such persona, or it is switched off.
    #[error("there is no active persona {0:?}; `gangway persona list` lists the personas")]
    NoPersona(String),
    /// As many as there may be.
    #[error("{0}")]
    TooMany(String),
    /// It was not ready in time.
    #[error("the agent was not ready within {0} seconds and was removed")]
    TooLate(u64),
    /// A name of a request that stood for another one.
    #[error("this Idempotency-Key was used for another request; use a new one")]
    OtherRequest,
    /// The agent that this request made has ended.
    #[error(
        "the agent that this request created has ended; use a new Idempotency-Key to create another"
    )]
    Over,
    /// The pane cannot be adopted.
    #[error("{0}")]
    NotAdoptable(String),
    /// It is an agent already.
    #[error("this pane is already adopted by the agent {0}; end that agent first")]
    AlreadyAdopted(AgentId),
    /// Nobody waits for it any more.
    #[error("the client disconnected before the agent was ready")]
    Left,
    /// tmux is not there, or the server stops.
    #[error("{0}")]
    Unavailable(String),
    /// Something else.
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
