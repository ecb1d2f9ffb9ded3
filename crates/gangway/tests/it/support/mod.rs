//! A server for each test, stopped when the test ends, and small clients for it.

mod client;
mod process;
mod server;
mod sse;
mod weights;

pub use client::{LOCAL_TOKEN, client, current_token, socket};
pub use gangway_testing::eventually;
pub use process::Gangway;
pub use server::TestServer;
pub use sse::{Frame, SseReader};
pub use weights::test_weights;
