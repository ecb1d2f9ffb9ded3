//! Local models: a provider whose engine is a separate process, `gangway-engine`.
//!
//! - `embedded`: the provider; starts the engine on demand, stops it when idle, restarts it after a crash
//! - `process`: one running engine: its pipes, running answers and exit
//! - `outbox`: the queue of messages to the engine
//! - `answer`: one answer as a stream, with flow control
//! - `program`: the path of the engine's program, and its status
//! - `source`: a file of weights with its version
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
