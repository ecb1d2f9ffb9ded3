//! Hostile paths and symlinks that try to leave a folder.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod promises;
mod spellings;
