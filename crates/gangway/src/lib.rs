//! Gangway: the two-way bridge between AI agents and web pages. The binary composes the crates of the protocols.
//!
//! - `cli`: the command line; `config`: the settings
//! - `server`: makes the services, mounts the routes, takes connections; `app`: what the routes of this crate share
//! - `protocols`: sessions over REST, SSE and WebSocket; `/mcp`
//! - `docs`, `health`, `keys`: routes about the server itself; `openapi`: the generated document

pub mod app;
pub mod cli;
pub mod config;
pub mod docs;
pub mod health;
pub mod keys;
pub mod openapi;
pub mod protocols;
pub mod server;
