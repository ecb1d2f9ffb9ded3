//! Everything that is tested from outside: a file for each door, and one for what holds everywhere.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod promises;
mod schema;
mod sessions;
mod support;
mod tidy;
