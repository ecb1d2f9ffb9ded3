//! A server for each test, stopped when the test ends, and small clients for it.

mod client;
mod process;
mod server;
mod weights;

pub use client::current_token;
pub use gangway_testing::{
    eventually,
    server::{LOCAL_TOKEN, client, socket},
    sse::{Frame, SseReader},
};
pub use process::Gangway;
pub use server::TestServer;
pub use weights::test_weights;
