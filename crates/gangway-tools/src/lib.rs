//! The user's tools: configured and added MCP servers, joined with the tools that parts of Gangway offer.
//!
//! - `tools`: the service; the list of MCP servers, and which of them run
//! - `toolset`: everything an agent can call: MCP servers and the `ToolSource`s that the binary names
//! - `approvals`: which calls need the user's approval, and stored choices
//! - `elicitation`: requests of MCP servers to the user
//! - `entry`, `file`: entries of MCP servers, and the file of added ones
//! - `import`: MCP servers that are configured in other hosts
//! - `catalog`, `install`: installable servers, and installs
//! - `login`: OAuth at MCP servers
//! - `config`, `routes`, `wire`: its settings, its routes and their messages
//!
//! Above core, http, mcp, secrets and agents; it knows no protocol.

pub mod approvals;
pub mod catalog;
mod config;
mod elicitation;
pub mod entry;
pub mod file;
pub mod import;
pub mod install;
pub mod login;
pub mod routes;
mod tools;
mod toolset;
pub mod wire;

use std::sync::Arc;

use approvals::Approvals;
pub use config::{PUBLIC_CATALOG, ToolSettings, ToolsConfig};
pub use entry::{BadEntry, ServerEntry};
use gangway_http::Http;
pub use tools::{GUARD, ServerSelection, Tools};
pub use toolset::Toolset;

/// State of the routes.
pub struct ToolsState {
    pub http: Arc<Http>,
    pub tools: Arc<Tools>,
    pub toolset: Arc<Toolset>,
    pub approvals: Arc<Approvals>,
}
