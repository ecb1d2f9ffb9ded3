//! Things that think: the built-in loop over a model, and the scripted agent.

pub mod briefed;
pub mod builtin;
pub mod router;
pub mod run;
pub mod runner;
pub mod scripted;
pub mod tmux;
mod told;

pub use briefed::{Brief, Briefed, Briefing, Heard};
pub use builtin::Builtin;
pub use scripted::{Script, ScriptError, Scripted};
