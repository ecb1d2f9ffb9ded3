//! Agents in this process: the built-in loop over a model with tools, its tool router, and the scripted agent.

mod app_events;
pub mod briefed;
pub mod builtin;
pub mod router;
pub mod run;
pub mod scripted;

pub use briefed::{Brief, Briefed, Briefing};
pub use builtin::Builtin;
pub use scripted::{Script, ScriptError, Scripted};
