//! The person's tools: MCP servers of the settings and those that were added, joined with the tools that parts of Gangway
//! offer themselves.
//!
//! - `tools`: the service; which MCP servers there are and which of them run
//! - `toolset`: everything an agent can call: MCP servers and the `ToolSource`s that the binary names
//! - `approvals`: before which calls the person is asked, and what they chose
//! - `elicitation`: what MCP servers ask the person
//! - `entry`, `file`: an MCP server as people write it down, and the file of those that were added
//! - `catalog`, `install`: what can be installed, and how it is
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
pub use tools::{GUARD, Tools, Wanted};
pub use toolset::Toolset;

/// What the routes use.
pub struct ToolsState {
    pub http: Arc<Http>,
    pub tools: Arc<Tools>,
    pub toolset: Arc<Toolset>,
    pub approvals: Arc<Approvals>,
}
