//! Tools for authors of apps, agents and pages. They talk to a server over its own protocols, and never link it.
//!
//! - `simulate`: a fake agent for an app, by a script, a recording or by hand
//! - `relay_check`: checks a page or an agent against the relay protocol
//! - `relay_client`: the agent's side of the relay protocol

pub mod relay_check;
pub mod relay_client;
pub mod simulate;
