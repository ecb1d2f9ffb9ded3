//! Model providers, each on its real wire, and weights from a package index.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod anthropic;
mod faults;
mod keys;
mod ollama;
mod openai;
mod retry;
mod reuse;
mod speech;
mod weights;
mod windows;

use gangway_testing::{fake, wires, wires::ONCE};
