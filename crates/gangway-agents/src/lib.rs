//! Agents in this process: the built-in loop over a model with tools, its tool router, and the scripted agent.

mod app_events;
pub mod builtin;
pub mod configured;
pub mod router;
pub mod run;
pub mod scripted;

pub use builtin::Builtin;
pub use configured::{ConfiguredAgent, TurnSettings, TurnSettingsSource};
pub use scripted::{Script, ScriptError, Scripted};
