//! The engine's settings and status.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How models are run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Threads; default is all cores but one, so that the machine stays responsive.
    pub threads: Option<usize>,
    /// Context size in tokens; default is the model's own, at most 8,192.
    pub context_tokens: Option<u32>,
    /// Idle time until the model is unloaded and the engine process stopped.
    pub idle: Duration,
    /// Maximum number of concurrent answers.
    pub parallel: usize,
    /// Maximum number of queued requests.
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
    /// The number of threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        self.threads
            .unwrap_or(cores.saturating_sub(1))
            .clamp(1, 512)
    }

    /// Concurrent answers: at least one, and at most llama.cpp's number of sequences.
    #[must_use]
    pub fn parallel(&self) -> usize {
        self.parallel.clamp(1, 32)
    }

    /// Maximum number of running and queued requests.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.parallel() + self.queue
    }
}

/// The status of the engine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The loaded model.
    pub loaded: Option<String>,
    /// Bytes of its weights and cached conversations.
    pub memory_bytes: u64,
    /// Running answers.
    pub active: usize,
    /// Queued requests.
    pub waiting: usize,
    /// Prompt tokens since the start, including reused ones.
    pub prompt_tokens: u64,
    /// Prompt tokens reused from the cache.
    pub reused_tokens: u64,
    /// Output tokens since the start.
    pub generated_tokens: u64,
}
