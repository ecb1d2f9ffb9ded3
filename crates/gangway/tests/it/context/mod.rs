//! Apps and their agents: launching, the origins of apps, and the channel on which the two talk.

mod actions;
mod channel;
pub mod client;
mod closing;
mod host;
mod identity;
mod launch;
mod links;
mod model;
mod tools;
