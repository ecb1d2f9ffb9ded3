//! Settings of tools.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::{approvals::ApprovalPolicy, entry::ServerEntry};

/// How tools are called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolsConfig {
    /// Timeout of a call, in seconds.
    pub timeout_seconds: u64,
    /// Maximum number of concurrent calls per session, key or origin.
    pub at_once: usize,
    /// Default approval policy of servers.
    pub approval: ApprovalPolicy,
    /// Maximum number of calls of the built-in agent in one turn.
    pub calls_per_turn: u32,
    /// Size limit of a result in bytes; the rest can be requested.
    pub result_bytes: usize,
    /// Timeout for starting a server, in seconds.
    pub start_seconds: u64,
    /// The URL of the MCP registry for the catalog, or `off`.
    pub catalog_url: String,
    /// Folders with programs such as npx and uvx, searched before those of `PATH`.
    pub programs: Vec<PathBuf>,
    /// Timeout for installing a package, in seconds.
    pub install_seconds: u64,
}

/// The public registry.
pub const PUBLIC_CATALOG: &str = "https://registry.modelcontextprotocol.io";

impl ToolsConfig {
    /// The registry, unless disabled.
    #[must_use]
    pub fn catalog(&self) -> Option<&str> {
        let url = self.catalog_url.trim();
        (!["", "off"].contains(&url)).then_some(url)
    }
}

impl Default for ToolsConfig {
    fn default() -> Self {
        Self {
            timeout_seconds: 30,
            at_once: 2,
            approval: ApprovalPolicy::Writes,
            calls_per_turn: 20,
            result_bytes: 256 << 10,
            start_seconds: 60,
            catalog_url: PUBLIC_CATALOG.to_owned(),
            programs: Vec::new(),
            install_seconds: 600,
        }
    }
}

/// The settings that determine the MCP servers and how their tools are called.
#[derive(Debug, Clone, Default)]
pub struct ToolSettings {
    pub tools: ToolsConfig,
    /// The MCP servers of config.yaml, by id.
    pub servers: BTreeMap<String, ServerEntry>,
}
