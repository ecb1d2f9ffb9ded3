//! Approvals of tool calls on the wire.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

/// Before which calls of a server's tools the chat's agent asks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalPolicy {
    /// Those of tools that are not read-only.
    #[default]
    Writes,
    /// All of them.
    All,
    /// None of them.
    None,
}

/// How the chat's agent asks before it calls tools.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalList {
    /// The policy of servers without one of their own (`tools.approval` in config.yaml).
    pub default_policy: ApprovalPolicy,
    /// The MCP servers.
    pub servers: Vec<ServerApproval>,
    /// Tools that are always or never allowed.
    pub tools: Vec<ToolApproval>,
}

/// The policy of one MCP server.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ServerApproval {
    /// The server.
    pub id: String,
    /// Its policy, the default included.
    pub policy: ApprovalPolicy,
    /// Whether the server, and so its policy, is set in config.yaml.
    pub from_config: bool,
}

/// A choice about one tool.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct ToolApproval {
    /// `server/tool`.
    pub tool: String,
    /// Whether it is always or never allowed.
    pub choice: LastingChoice,
}

/// A choice that holds in every chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum LastingChoice {
    /// The tool is called without asking.
    Always,
    /// The tool is not called.
    Never,
}

/// Sets the policy of a server.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct SetServerApproval {
    /// The policy.
    pub policy: ApprovalPolicy,
}

/// Sets or removes the choice about a tool.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct SetToolApproval {
    /// `server/tool`.
    pub tool: String,
    /// The choice; without one the policy of the server decides again.
    #[serde(default)]
    #[ts(optional)]
    pub choice: Option<LastingChoice>,
}
