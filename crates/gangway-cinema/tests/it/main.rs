//! Booking over REST: from the program to a ticket.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod cancel;
mod conflicts;
mod kept;
mod path;
mod refusals;
mod server;
mod studies;
