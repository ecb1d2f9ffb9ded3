//! Apps: manifests, discovery, contexts and serving.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod context;
mod manifest;
mod rank;
mod registry;
mod scripts;
mod serve;
mod wider;

use gangway_testing::apps::{AppSite, plain, write};
