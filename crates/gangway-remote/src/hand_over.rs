//! Compacting an agent's context on request: it continues with a summary of the conversation.

use gangway_runner::wire::ToRunner;

use super::{LiveAgent, Record, RemoteAgents};

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HandOverError {
    #[error("this agent has ended; create another one")]
    Ended,
    #[error("this agent is a terminal program, whose context cannot be compacted")]
    Unsupported,
    #[error("the process of this agent is not connected; try again")]
    Away,
}

impl RemoteAgents {
    /// Whether an agent's context can be compacted.
    #[must_use]
    pub fn can_hand_over(&self, record: &Record) -> bool {
        let backends = &self.config.backends;
        let config = backends.get(&record.backend);
        record.adopted.is_none() && config.is_none_or(|config| config.terminal.is_none())
    }

    /// Compacts the context at the next message.
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
