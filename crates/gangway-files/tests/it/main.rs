//! Files of a folder, as hostile paths and links try to leave it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod promises;
mod spellings;
