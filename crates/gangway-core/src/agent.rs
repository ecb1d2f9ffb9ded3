//! Agents: anything that takes turns.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::BoxFuture;

use crate::{
    error::{Error, Result},
    event::Usage,
    turn::Turn,
};

/// Why an agent could not finish a turn. The message is shown to the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AgentError {
    /// A short machine-readable reason.
    pub code: String,
    /// What happened and what to do.
    pub message: String,
    /// Whether the same prompt may work later.
    pub retryable: bool,
}

impl From<Error> for AgentError {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::AnswerTooLong { .. } => "answer_too_long",
            Error::StorageFull => "storage_full",
            Error::Corrupted(_) => "data_corrupted",
            _ => "storage_failed",
        };
        Self {
            code: code.into(),
            message: error.to_string(),
            retryable: false,
        }
    }
}

/// Whether an agent can take a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    /// Ready.
    Ready,
    /// Not ready, with the reason.
    NotReady(String),
}

/// Anything that takes turns: a loop over a model, a process, a script.
pub trait Agent: Send + Sync {
    /// A one-line description for users who choose an agent.
    fn description(&self) -> String;

    /// Whether it can take a turn now.
    fn readiness(&self) -> Readiness;

    /// Whether users can choose it; otherwise it creates its own sessions.
    fn is_for_choosing(&self) -> bool {
        true
    }

    /// Whether its turns continue while this process is down: they are not marked as interrupted but resumed, with a
    /// turn that has already begun.
    fn survives(&self) -> bool {
        false
    }

    /// Whether it can resume a turn that waits for an answer after a restart: `run` gets a turn with an `open_question`
    /// and must wait for its answer first.
    fn resumes_questions(&self) -> bool {
        false
    }

    /// Takes one turn. The future is dropped when the turn is stopped and must leave nothing running.
    fn run(&self, turn: Turn) -> BoxFuture<'_, std::result::Result<Option<Usage>, AgentError>>;
}

/// All agents by name.
#[derive(Clone)]
pub struct Agents {
    by_name: Arc<BTreeMap<String, Arc<dyn Agent>>>,
    default: String,
}

impl Agents {
    /// An agent that users can choose, by name.
    pub fn chosen(&self, name: &str) -> Result<&Arc<dyn Agent>> {
        let agent = self.get(name)?;
        match agent.is_for_choosing() {
            true => Ok(agent),
            false => Err(self.unknown(name)),
        }
    }

    /// `default` must be one of `agents`.
    pub fn new(by_name: BTreeMap<String, Arc<dyn Agent>>, default: &str) -> Result<Self> {
        let agents = Self {
            by_name: Arc::new(by_name),
            default: default.to_owned(),
        };
        agents.get(default)?;
        Ok(agents)
    }

    pub(crate) fn none() -> Self {
        Self {
            by_name: Arc::default(),
            default: String::new(),
        }
    }

    /// The agent of sessions for which none was chosen.
    #[must_use]
    pub fn default_name(&self) -> &str {
        &self.default
    }

    /// The agent of this name.
    pub fn get(&self, name: &str) -> Result<&Arc<dyn Agent>> {
        self.by_name.get(name).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> Error {
        let known = self.iter().filter(|(_, agent)| agent.is_for_choosing());
        let known: Vec<_> = known.map(|(name, _)| name.as_str()).collect();
        Error::AgentNotFound {
            name: name.chars().take(80).collect(),
            known: known.join(", "),
        }
    }

    /// All agents by name.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Arc<dyn Agent>)> {
        self.by_name.iter()
    }
}
