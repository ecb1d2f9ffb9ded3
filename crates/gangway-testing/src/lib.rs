//! Shared helpers of tests. Each feature adds one crate, so that the tests of other crates do not wait for it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::new_without_default,
    missing_docs,
    reason = "a test that cannot go on should say where, and reads what it uses here"
)]

#[cfg(feature = "apps")]
pub mod apps;
#[cfg(feature = "server")]
pub mod cinema_client;
#[cfg(feature = "models")]
pub mod fake;
#[cfg(feature = "server")]
pub mod mcp_registry;
pub mod mcp_servers;
#[cfg(unix)]
pub mod npm;
#[cfg(feature = "server")]
pub mod openai_client;
#[cfg(feature = "providers")]
pub mod providers;
#[cfg(feature = "server")]
pub mod relay_client;
#[cfg(feature = "remote")]
pub mod remote_client;
#[cfg(feature = "server")]
pub mod remote_model;
#[cfg(feature = "remote")]
pub mod remote_stock;
#[cfg(feature = "runner")]
pub mod runner;
#[cfg(feature = "runner")]
pub mod runner_client;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "sessions")]
pub mod sessions;
#[cfg(feature = "server")]
pub mod socket;
#[cfg(feature = "server")]
pub mod sse;
pub mod tmux;
pub mod tmux_shell;
mod wait;
#[cfg(feature = "server")]
pub mod webagent_client;
#[cfg(feature = "server")]
pub mod weblets_client;
#[cfg(feature = "models")]
pub mod weights;
#[cfg(feature = "models")]
pub mod wires;

pub use wait::eventually;
