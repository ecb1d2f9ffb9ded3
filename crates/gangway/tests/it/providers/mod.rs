//! Model providers behind the server.

mod api;
mod embedded;
mod hostile;
mod models;

pub use gangway_testing::{fake, wires};
