//! What can be chosen about the engine, and what it says of itself.

use std::{ffi::OsString, time::Duration};

/// How models are run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Threads that compute; by default one less than the cores, so that the rest of the machine goes on.
    pub threads: Option<usize>,
    /// The tokens of one conversation; by default what the model was trained on, but 8,192 at the most.
    pub context_tokens: Option<u32>,
    /// How long a model that nobody asks stays in memory.
    pub idle: Duration,
    /// Answers that are written side by side.
    pub parallel: usize,
    /// Requests that may wait for their turn.
    pub queue: usize,
    /// A command that [tries](crate::trial::run) the file whose path is put after it. Weights that were not tried are then not
    /// loaded, since llama.cpp ends the process over some that are wrong.
    pub trial: Option<Vec<OsString>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: None,
            context_tokens: None,
            idle: Duration::from_secs(5 * 60),
            parallel: 4,
            queue: 32,
            trial: None,
        }
    }
}

impl Settings {
    /// The threads that compute.
    pub(crate) fn threads(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        self.threads
            .unwrap_or(cores.saturating_sub(1))
            .clamp(1, 512)
    }

    /// Answers side by side: at least one, and not more than llama.cpp has sequences for.
    pub(crate) fn parallel(&self) -> usize {
        self.parallel.clamp(1, 32)
    }
}

/// What the engine is doing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// The model in memory.
    pub loaded: Option<String>,
    /// What its weights and the conversations that it remembers take.
    pub memory_bytes: u64,
    /// Answers being written.
    pub active: usize,
    /// Requests that wait for their turn.
    pub waiting: usize,
    /// Tokens of prompts since the start, read or known already.
    pub prompt_tokens: u64,
    /// Tokens of prompts that were known already and not read again.
    pub reused_tokens: u64,
    /// Tokens written since the start.
    pub generated_tokens: u64,
}
