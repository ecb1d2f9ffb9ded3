//! Gangway as an MCP server.

pub mod client;
mod rights;
mod sessions;
mod state;
mod stdio;
mod through;
