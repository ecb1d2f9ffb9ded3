//! The person's MCP servers: called, approved, logged in at, found in the catalog and installed.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod approval;
mod calls;
mod catalog;
mod people;
mod server;
