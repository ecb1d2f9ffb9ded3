//! API types of approvals.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

/// Which calls of a server's tools need the user's approval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalPolicy {
    /// Calls of tools that are not read-only.
    #[default]
    Writes,
    /// All calls.
    All,
    /// None.
    None,
}

/// The approval policies and choices.
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

/// The policy of an MCP server.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ServerApproval {
    /// The server.
    pub id: String,
    /// Its policy; may be the default.
    pub policy: ApprovalPolicy,
    /// Whether the server and its policy are configured in config.yaml.
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

/// A choice for all chats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum LastingChoice {
    /// Calls are always allowed.
    Always,
    /// Calls are denied.
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
    /// The choice; without one the server's policy applies.
    #[serde(default)]
    #[ts(optional)]
    pub choice: Option<LastingChoice>,
}
