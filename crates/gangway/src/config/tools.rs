//! Settings of tools.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::tools::approvals::ApprovalPolicy;

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

#[cfg(test)]
mod tests {
    use crate::config::Config;

    #[test]
    fn the_catalog_comes_from_a_registry_or_from_nowhere() {
        let config = |yaml: &str| Config::parse(yaml).unwrap();
        for (yaml, wanted) in [
            ("{}", Some(super::PUBLIC_CATALOG)),
            ("tools: { catalog_url: 'off' }", None),
            ("tools: { catalog_url: '' }", None),
            (
                "tools: { catalog_url: 'http://127.0.0.1:1/x' }",
                Some("http://127.0.0.1:1/x"),
            ),
        ] {
            let config = config(yaml);
            config.check().unwrap();
            assert_eq!(config.tools.catalog(), wanted);
        }
        for (yaml, name) in [
            ("tools: { catalog_url: 'ftp://x' }", "tools.catalog_url"),
            ("tools: { programs: ['bin'] }", "tools.programs"),
            ("tools: { install_seconds: 0 }", "tools.install_seconds"),
        ] {
            let error = config(yaml).check().unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
    }
}
