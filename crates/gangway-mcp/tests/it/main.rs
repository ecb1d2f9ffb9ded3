//! Real servers, and faulty ones.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod asking;
mod excess;
mod faults;
mod login;
mod orphans;
mod real;
mod remote;
mod support;
