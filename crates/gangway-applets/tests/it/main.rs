//! Applets: the session channel, and the frames they run in.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod bad_input;
mod client;
mod consent;
mod files;
mod frame;
mod invoke;
mod server;
mod state;
