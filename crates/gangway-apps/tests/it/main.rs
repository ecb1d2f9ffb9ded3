//! Apps: what their manifests say, where they are found, what they are launched with and how they are served.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod context;
mod manifest;
mod rank;
mod scripts;
mod serve;
mod shelf;
mod wider;

use gangway_testing::apps::{Site, plain, write};
