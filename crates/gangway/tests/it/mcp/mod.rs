//! Gangway as an MCP server.

pub mod client;
mod connections;
mod rights;
mod sessions;
mod state;
mod stdio;
mod through;
