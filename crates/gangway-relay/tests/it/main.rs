//! The relay from both sides of the wire: pages and external agents.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod chats;
mod hostile;
mod joining;
mod own_log;
mod resume;
mod routing;
mod server;
mod study;
