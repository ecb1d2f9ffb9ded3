//! Model providers behind the server.

mod embedded;
mod hostile;

pub use gangway_testing::{fake, wires};
