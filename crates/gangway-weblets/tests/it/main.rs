//! Apps and their agents: launching, the origins of apps, and the channel on which the two talk.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod actions;
mod channel;
mod closing;
mod host;
mod identity;
mod launch;
mod links;
mod page_tools;
mod replay;
mod server;
mod tools;
