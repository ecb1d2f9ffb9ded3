//! Models that run on this machine: a provider whose engine is a process of its own, `gangway-engine`.
//!
//! - `embedded`: the provider; starts the engine on demand, stops it when idle, restarts it after a crash
//! - `process`: one running engine: its pipes, open answers and last words
//! - `outbox`: what waits to be written to the engine
//! - `answer`: one answer as a stream, with flow control
//! - `program`: where the engine's program is, and whether it is there yet
//! - `source`: a file of weights as it was when it was looked at
//! - `wire`: the messages on the pipes, one JSON document per line
//! - `cpu`: whether this processor can run the engine

mod answer;
mod cpu;
mod embedded;
mod outbox;
mod process;
mod program;
mod settings;
mod source;
pub mod wire;

pub use embedded::Embedded;
pub use program::{Availability, Program};
pub use settings::{Settings, Status};
pub use source::Source;
