//! What travels about tools and their servers.

use std::collections::BTreeMap;

use gangway_mcp::{Line, Source, State, Status};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;
use utoipa::ToSchema;

use crate::entry::ServerEntry;

/// The MCP servers.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct ToolServerList {
    /// All of them.
    pub servers: Vec<ToolServerInfo>,
}

/// An MCP server.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolServerInfo {
    /// Its name here.
    pub id: String,
    /// What it is doing.
    pub state: ToolServerState,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<String>,
    /// What it says it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub title: Option<String>,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub version: Option<String>,
    /// The revision of the protocol that was agreed on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub protocol: Option<String>,
    /// How many tools it has.
    pub tools: usize,
    /// How it is reached: its command line, or its URL. Nothing of its environment and headers.
    pub target: String,
    /// Whether it comes from the settings and cannot be removed here.
    pub from_config: bool,
    /// Whether the person has logged in at it.
    pub logged_in: bool,
    /// Whether it wants the person to log in again, and to allow it more.
    pub wants_more: bool,
}

/// What a server is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum ToolServerState {
    /// Nothing.
    Stopped,
    /// It starts, or waits to be started again.
    Starting,
    /// Its tools can be called.
    Ready,
    /// The person must log in at it first.
    Unauthorized,
    /// It failed too often and is left alone.
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
                Some("it wants you to log in".to_owned()),
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

    /// One that cannot even be started.
    pub(crate) fn broken(id: &str, problem: String, target: String, from_config: bool) -> Self {
        Self {
            state: ToolServerState::Failed,
            problem: Some(problem),
            ..Self::stopped(id, target, from_config)
        }
    }

    /// One that is not run.
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

/// A server to add.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct AddServers {
    /// Servers by name, in the form that other hosts use.
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
    /// When it was said.
    pub at: String,
    /// `stderr`, `stdout`, `message` or `host`.
    pub source: String,
    /// What was said.
    pub text: String,
}

impl From<Line> for LogLine {
    fn from(line: Line) -> Self {
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

/// Tools that can be called.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct ToolList {
    /// All of them.
    pub tools: Vec<ToolInfo>,
}

/// A tool.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolInfo {
    /// `server/tool`.
    pub name: String,
    /// What it is good for.
    pub description: String,
    /// A JSON Schema of type object.
    #[schema(value_type = Object)]
    #[ts(type = "JsonValue")]
    pub input_schema: Value,
    /// The server.
    pub server_id: String,
}

impl ToolList {
    /// A list of them.
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

/// A call.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct CallTool {
    /// `server/tool`.
    pub tool: String,
    /// What it is called with; nothing is an empty object.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    #[ts(optional, type = "JsonValue")]
    pub args: Value,
}

/// What a tool answered.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct ToolAnswer {
    /// The answer.
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

/// Which servers a sentence is for.
#[derive(Debug, Serialize, ToSchema, TS)]
pub struct RouteAnswer {
    /// The servers, each with the words that speak for it. None at all means that every tool is offered.
    pub servers: BTreeMap<String, Vec<String>>,
}
