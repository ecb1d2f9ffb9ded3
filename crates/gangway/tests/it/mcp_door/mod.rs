//! Gangway as an MCP server.

mod client;
mod rights;
mod sessions;
mod state;
mod stdio;
mod through;
