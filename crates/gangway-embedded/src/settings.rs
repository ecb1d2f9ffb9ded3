//! The engine's settings, and what it reports about itself.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How models are run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Threads that compute; by default one less than the cores, so that the machine stays responsive.
    pub threads: Option<usize>,
    /// Tokens of one conversation; by default what the model was trained on, but at most 8,192.
    pub context_tokens: Option<u32>,
    /// How long an unused model stays in memory. The engine process is stopped at the same time.
    pub idle: Duration,
    /// Answers that are generated side by side.
    pub parallel: usize,
    /// Requests that may wait for their turn.
    pub queue: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: None,
            context_tokens: None,
            idle: Duration::from_secs(5 * 60),
            parallel: 4,
            queue: 32,
        }
    }
}

impl Settings {
    /// The threads that compute.
    #[must_use]
    pub fn threads(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        self.threads
            .unwrap_or(cores.saturating_sub(1))
            .clamp(1, 512)
    }

    /// Answers side by side: at least one, and no more than llama.cpp has sequences for.
    #[must_use]
    pub fn parallel(&self) -> usize {
        self.parallel.clamp(1, 32)
    }

    /// Requests that may be open at once, running or waiting.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.parallel() + self.queue
    }
}

/// What the engine is doing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The model in memory.
    pub loaded: Option<String>,
    /// Bytes of its weights and of the conversations it remembers.
    pub memory_bytes: u64,
    /// Answers being generated.
    pub active: usize,
    /// Requests that wait for their turn.
    pub waiting: usize,
    /// Prompt tokens since the start, whether read or reused.
    pub prompt_tokens: u64,
    /// Prompt tokens that were in memory already.
    pub reused_tokens: u64,
    /// Tokens generated since the start.
    pub generated_tokens: u64,
}
