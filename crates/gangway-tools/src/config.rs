//! Settings of tools.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::{approvals::ApprovalPolicy, entry::ServerEntry};

/// How tools are called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolsConfig {
    /// Seconds that a call may take.
    pub timeout_seconds: u64,
    /// Calls of one session, key or origin at the same time.
    pub at_once: usize,
    /// Before which tool calls the chat's agent asks, for servers that have no `approval` of their own.
    pub approval: ApprovalPolicy,
    /// Calls that the built-in agent makes in one turn.
    pub calls_per_turn: u32,
    /// Bytes of a result that are given at once; the rest can be asked for.
    pub result_bytes: usize,
    /// Seconds that a server may take to start.
    pub start_seconds: u64,
    /// Where the catalog of servers comes from: a registry's URL, or `off`.
    pub catalog_url: String,
    /// Folders with programs such as npx and uvx, looked into before those of `PATH`.
    pub programs: Vec<PathBuf>,
    /// Seconds that a package may take to come in.
    pub install_seconds: u64,
}

/// The registry that everybody shares.
pub const PUBLIC_CATALOG: &str = "https://registry.modelcontextprotocol.io";

impl ToolsConfig {
    /// The registry, unless it is switched off.
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

/// What decides which MCP servers there are and how their tools are called.
#[derive(Debug, Clone, Default)]
pub struct ToolSettings {
    pub tools: ToolsConfig,
    /// The MCP servers of the settings, by name.
    pub servers: BTreeMap<String, ServerEntry>,
}
