//! Web pages: what they may do, what they get, and what they cannot.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod asks;
mod browser;
mod budget;
mod connection;
mod frames;
mod permissions;
mod run;
mod server;
mod servers;
mod text;
mod tools;
