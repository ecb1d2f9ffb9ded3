//! Whatever takes a turn.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::BoxFuture;

use crate::{
    error::{Error, Result},
    event::Usage,
    turn::Turn,
};

/// Why an agent could not finish a turn, in words for the person.
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

/// Whether an agent can take a turn now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    /// It can.
    Ready,
    /// It cannot, for this reason.
    NotReady(String),
}

/// Whatever takes a turn: a loop over a model, a process, a script.
pub trait Agent: Send + Sync {
    /// One line for people who choose an agent.
    fn description(&self) -> String;

    /// Whether it can take a turn now.
    fn readiness(&self) -> Readiness;

    /// Whether people choose it for their sessions, or it has sessions of its own.
    fn is_for_choosing(&self) -> bool {
        true
    }

    /// Whether its turns go on while this process is away: they are then neither marked as interrupted at a stop nor after
    /// a crash, but taken up again, with a turn that was begun before.
    fn survives(&self) -> bool {
        false
    }

    /// Whether it can take up a turn that waited for an answer when the process ended: `run` then gets a turn with an
    /// `open_question`, and has to wait for its answer before it goes on.
    fn resumes_questions(&self) -> bool {
        false
    }

    /// Takes one turn. The future is dropped when the turn is stopped, and must leave nothing running then.
    fn run(&self, turn: Turn) -> BoxFuture<'_, std::result::Result<Option<Usage>, AgentError>>;
}

/// The agents there are, by name.
#[derive(Clone)]
pub struct Agents {
    by_name: Arc<BTreeMap<String, Arc<dyn Agent>>>,
    default: String,
}

impl Agents {
    /// An agent that people may give to a session, by its name. The others have sessions of their own.
    pub fn chosen(&self, name: &str) -> Result<&Arc<dyn Agent>> {
        let agent = self.get(name)?;
        match agent.is_for_choosing() {
            true => Ok(agent),
            false => Err(self.unknown(name)),
        }
    }

    /// These agents; `default` must be one of them.
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

    /// The agent that takes turns when nobody chose one.
    #[must_use]
    pub fn default_name(&self) -> &str {
        &self.default
    }

    /// The agent with this name.
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

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Arc<dyn Agent>)> {
        self.by_name.iter()
    }
}
