//! Hand-overs on request: an agent continues in a fresh context, with a summary of the conversation.

use gangway_runner::wire::ToRunner;

use super::{LiveAgent, Record, RemoteAgents};

/// Why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HandOverError {
    /// It is over.
    #[error("this agent has ended; create another one")]
    Ended,
    /// Its brain has no conversation that could be summarized.
    #[error(
        "the brain of this agent is a program for terminals, which cannot be asked for a summary"
    )]
    Unsupported,
    /// Its process is not connected.
    #[error("the process of this agent is not connected; try again")]
    Away,
}

impl RemoteAgents {
    /// Whether an agent can be asked for a summary.
    #[must_use]
    pub fn can_hand_over(&self, record: &Record) -> bool {
        let brains = &self.config.brains;
        let config = brains.get(&record.brain);
        record.adopted.is_none() && config.is_none_or(|config| config.terminal.is_none())
    }

    /// Lets an agent continue in a fresh context from its next message on.
    pub fn hand_over(&self, agent: &LiveAgent) -> Result<(), HandOverError> {
        let record = agent.record();
        if record.is_over() {
            return Err(HandOverError::Ended);
        }
        if !self.can_hand_over(&record) {
            return Err(HandOverError::Unsupported);
        }
        match agent.channel.send(ToRunner::HandOver) {
            true => Ok(()),
            false => Err(HandOverError::Away),
        }
    }
}
