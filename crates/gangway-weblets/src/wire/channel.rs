//! Messages of the channel between apps and their agents.

use gangway_core::AppRefusal;
use gangway_pages::{OfferedTool, RefusedTool};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

#[derive(Debug, Clone, Serialize, Deserialize, TS)]
pub struct AppFault {
    /// The code that the app sees, such as `E-AGT-004`.
    #[serde(default)]
    pub code: Option<String>,
    #[serde(default)]
    pub message: Option<String>,
}

impl From<AppRefusal> for AppFault {
    fn from(why: AppRefusal) -> Self {
        Self {
            code: Some(why.code),
            message: Some(why.message),
        }
    }
}

/// Messages from a page.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum PageClientMessage {
    /// An event for the agent; acknowledged once it is stored and the agent has it.
    WebletEvent {
        /// Chosen by the page; the same when it is repeated.
        id: String,
        event: String,
        #[serde(default)]
        #[ts(type = "JsonValue")]
        payload: Value,
    },
    /// A request to the agent.
    WebletRequest {
        /// Chosen by the page; the same when it is repeated.
        request_id: String,
        action: String,
        #[serde(default)]
        #[ts(type = "JsonValue")]
        params: Value,
    },
    /// The tools that the page offers to agents, all of them; answered by `tools-offered`. Sent again after a reconnect.
    WebletTools {
        tools: Vec<OfferedTool>,
        /// Whether another document took the place of the one that was sent the open calls, which fail.
        #[serde(default)]
        #[ts(as = "Option<bool>", optional)]
        reset: bool,
    },
    /// The result of a `tool-call`.
    WebletToolResult {
        #[ts(type = "number")]
        call: u64,
        success: bool,
        #[serde(default)]
        #[ts(optional, type = "JsonValue")]
        result: Value,
        #[serde(default)]
        #[ts(optional)]
        error: Option<AppFault>,
    },
    /// The page no longer waits for an event or request.
    WebletCancel {
        /// The `id` of an event, or the `requestId` of a request.
        id: String,
    },
    Ping {},
}

/// Messages to a page.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum PageServerMessage {
    /// The channel is open.
    Welcome {
        /// The number to resume after.
        #[ts(type = "number")]
        seq: u64,
    },
    /// Resuming would leave a gap; events continue after this number.
    Resync {
        /// The number to resume after.
        #[ts(type = "number")]
        seq: u64,
    },
    /// The agent has the event.
    WebletAck {
        id: String,
    },
    /// The event was rejected.
    WebletNack {
        id: String,
        error: AppFault,
    },
    WebletResponse {
        request_id: String,
        success: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "JsonValue")]
        result: Option<Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        error: Option<AppFault>,
    },
    /// An event of the agent.
    AgentEvent {
        event: String,
        #[ts(type = "JsonValue")]
        payload: Value,
        /// Its number in the log.
        #[ts(type = "number")]
        seq: u64,
    },
    /// The answer to `weblet-tools`.
    ToolsOffered {
        /// The server name of the page's tools, as agents see it; none before it offers tools.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        server: Option<String>,
        /// The names of the accepted tools.
        tools: Vec<String>,
        refused: Vec<RefusedTool>,
    },
    /// An agent calls a tool of the page, which answers with `weblet-tool-result`. After a reconnect it may come again:
    /// calls have increasing numbers.
    ToolCall {
        #[ts(type = "number")]
        call: u64,
        name: String,
        #[ts(type = "JsonValue")]
        arguments: Value,
    },
    /// Nobody waits for the result of this call any more.
    ToolCancel {
        #[ts(type = "number")]
        call: u64,
    },
    /// The files of the app changed.
    Reload,
    /// An invalid message.
    Error {
        error: String,
        /// The id of that message, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        id: Option<String>,
    },
    Pong,
    /// The last message before the channel closes.
    Closing {
        /// A machine-readable reason.
        reason: String,
        /// What to do about it.
        message: String,
    },
}

/// Messages from an agent.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum AgentClientMessage {
    /// Acknowledges an event.
    WebletAck {
        id: String,
    },
    /// The answer to a request.
    WebletResponse {
        request_id: String,
        success: bool,
        #[serde(default)]
        #[ts(type = "JsonValue")]
        result: Value,
        #[serde(default)]
        error: Option<AppFault>,
    },
    /// An event for the app.
    AgentEvent {
        event: String,
        #[serde(default)]
        #[ts(type = "JsonValue")]
        payload: Value,
        /// Chosen by the agent, for `sent`.
        #[serde(default)]
        id: Option<String>,
    },
    Ping {},
}

/// Messages to an agent.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum AgentServerMessage {
    /// The channel is open.
    Welcome {
        launch_id: String,
        app: String,
        /// The session that logs the channel.
        session_id: String,
        /// The number of its newest event.
        #[ts(type = "number")]
        seq: u64,
    },
    /// An event of the app; to be answered with `weblet-ack`.
    WebletEvent {
        id: String,
        event: String,
        #[ts(type = "JsonValue")]
        payload: Value,
        /// Milliseconds since 1970.
        #[ts(type = "number")]
        timestamp: i64,
        weblet: String,
        /// Its number in the log.
        #[ts(type = "number")]
        seq: u64,
    },
    /// A request of the app; to be answered with `weblet-response`.
    WebletRequest {
        request_id: String,
        action: String,
        #[ts(type = "JsonValue")]
        params: Value,
        /// Milliseconds since 1970.
        #[ts(type = "number")]
        timestamp: i64,
        weblet: String,
        /// Its number in the log.
        #[ts(type = "number")]
        seq: u64,
    },
    /// The agent's event is stored.
    Sent {
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        id: Option<String>,
        /// Its number in the log.
        #[ts(type = "number")]
        seq: u64,
    },
    /// An invalid message.
    Error {
        error: String,
        /// The id of that message, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        id: Option<String>,
    },
    Pong,
    /// The last message before the channel closes.
    Closing {
        /// A machine-readable reason.
        reason: String,
        /// What to do about it.
        message: String,
    },
}
