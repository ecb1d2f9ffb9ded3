//! Model providers, each on its real wire.

mod anthropic;
mod embedded;
pub mod fake;
mod faults;
mod hostile;
mod ollama;
mod openai;
mod retry;
mod reuse;
mod speech;
mod windows;
pub mod wires;

use std::time::Duration;

use gangway_models::remote::Retry;

/// No second attempt.
const ONCE: Retry = Retry {
    times: 0,
    pause: Duration::ZERO,
};
