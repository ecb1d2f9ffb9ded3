//! Runners, seen from the server's end of their socket.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod acp;
mod context;
mod model;
mod pages;
mod panes;
mod processes;
mod resuming;
mod running;
mod terminal;
mod turns;
