//! The catalog of servers that can be installed.

pub mod wire;
