//! API types of tools and their servers.

use std::collections::BTreeMap;

use gangway_mcp::{JournalLine, Source, State, Status};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;
use utoipa::ToSchema;

use crate::entry::ServerEntry;

/// The MCP servers.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct ToolServerList {
    /// All servers.
    pub servers: Vec<ToolServerInfo>,
}

/// An MCP server.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolServerInfo {
    /// Its id.
    pub id: String,
    /// Its state.
    pub state: ToolServerState,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<String>,
    /// Its self-description.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub title: Option<String>,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub version: Option<String>,
    /// The negotiated protocol version.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub protocol: Option<String>,
    /// The number of its tools.
    pub tools: usize,
    /// Its command line or URL, without environment and headers.
    pub target: String,
    /// Whether it is configured in config.yaml and cannot be removed here.
    pub from_config: bool,
    /// Whether the user has logged in.
    pub logged_in: bool,
    /// Whether it requires another login with more scopes.
    pub wants_more: bool,
}

/// The state of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum ToolServerState {
    /// Disabled.
    Stopped,
    /// Starting, or waiting for a restart.
    Starting,
    /// Ready.
    Ready,
    /// The user must log in first.
    Unauthorized,
    /// It failed too often and is not restarted.
    Failed,
}

impl ToolServerInfo {
    pub(crate) fn new(status: Status, target: String, from_config: bool) -> Self {
        let (state, problem) = match status.state {
            State::Stopped => (ToolServerState::Stopped, None),
            State::Starting { reason, .. } => (ToolServerState::Starting, reason),
            State::Ready => (ToolServerState::Ready, None),
            State::Unauthorized => (
                ToolServerState::Unauthorized,
                Some("requires a login".to_owned()),
            ),
            State::Failed { reason, .. } => (ToolServerState::Failed, Some(reason)),
        };
        let server = status.server;
        Self {
            id: status.id.to_string(),
            state,
            problem,
            title: server
                .as_ref()
                .map(|s| s.title.clone().unwrap_or_else(|| s.name.clone())),
            version: server.map(|server| server.version),
            protocol: status.protocol,
            tools: status.tools,
            target,
            from_config,
            logged_in: status.logged_in,
            wants_more: status.wants_more,
        }
    }

    /// A server that cannot be started.
    pub(crate) fn broken(id: &str, problem: String, target: String, from_config: bool) -> Self {
        Self {
            state: ToolServerState::Failed,
            problem: Some(problem),
            ..Self::stopped(id, target, from_config)
        }
    }

    /// A disabled server.
    pub(crate) fn stopped(id: &str, target: String, from_config: bool) -> Self {
        Self {
            id: id.to_owned(),
            state: ToolServerState::Stopped,
            problem: None,
            title: None,
            version: None,
            protocol: None,
            tools: 0,
            target,
            from_config,
            logged_in: false,
            wants_more: false,
        }
    }
}

/// Servers to add.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct AddServers {
    /// By id, in the common JSON form of MCP hosts.
    #[serde(rename = "mcpServers")]
    pub servers: BTreeMap<String, ServerEntry>,
}

/// Lines of a server's log.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct LogLines {
    /// The lines, oldest first.
    pub lines: Vec<LogLine>,
}

/// A line of a server's log.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct LogLine {
    /// Counts up from 1.
    #[ts(type = "number")]
    pub number: u64,
    /// When it was written.
    pub at: String,
    /// `stderr`, `stdout`, `message` or `host`.
    pub source: String,
    /// The text.
    pub text: String,
}

impl From<JournalLine> for LogLine {
    fn from(line: JournalLine) -> Self {
        let source = match line.source {
            Source::Stderr => "stderr",
            Source::Stdout => "stdout",
            Source::Message => "message",
            Source::Host => "host",
        };
        Self {
            number: line.number,
            at: line.at.to_string(),
            source: source.to_owned(),
            text: line.text,
        }
    }
}

/// Available tools.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct ToolList {
    /// All tools.
    pub tools: Vec<ToolInfo>,
}

/// A tool.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolInfo {
    /// `server/tool`.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its input schema, of type object.
    #[schema(value_type = Object)]
    #[ts(type = "JsonValue")]
    pub input_schema: Value,
    /// The server.
    pub server_id: String,
}

impl ToolList {
    /// A list of tools.
    #[must_use]
    pub fn of(tools: Vec<std::sync::Arc<gangway_core::Tool>>) -> Self {
        let info = |tool: std::sync::Arc<gangway_core::Tool>| ToolInfo {
            name: tool.name.to_string(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
            server_id: tool.name.server().to_owned(),
        };
        Self {
            tools: tools.into_iter().map(info).collect(),
        }
    }
}

/// A tool call.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct CallTool {
    /// `server/tool`.
    pub tool: String,
    /// The arguments; default is an empty object.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    #[ts(optional, type = "JsonValue")]
    pub args: Value,
}

/// The result of a tool.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct ToolAnswer {
    /// The result.
    #[schema(value_type = Object)]
    #[ts(type = "JsonValue")]
    pub result: Value,
}

/// A sentence to find servers for.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct RouteSentence {
    /// The sentence.
    pub sentence: String,
}

/// The servers that match a sentence.
#[derive(Debug, Serialize, ToSchema, TS)]
pub struct RouteAnswer {
    /// The servers with the matched words. If empty, all tools are offered.
    pub servers: BTreeMap<String, Vec<String>>,
}
