//! What the tests of several crates share.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

#[cfg(feature = "runner")]
pub mod runner;
pub mod tmux;
mod wait;

pub use wait::eventually;
