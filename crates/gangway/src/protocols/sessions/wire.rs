//! Requests and responses of the session routes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;
use utoipa::ToSchema;

use gangway_http::feed::wire::Session;

#[derive(Debug, Default, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[ts(optional_fields)]
pub struct CreateSession {
    /// An existing folder to work in; default is a new one.
    pub cwd: Option<String>,
    pub model: Option<String>,
    /// See `GET /api/agents`.
    pub agent: Option<String>,
    pub title: Option<String>,
}

/// Absent fields stay unchanged.
#[derive(Debug, Default, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[ts(optional_fields)]
pub struct UpdateSession {
    pub title: Option<String>,
    pub model: Option<String>,
    pub agent: Option<String>,
}

/// A page of sessions, newest first.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct SessionList {
    pub sessions: Vec<Session>,
    /// `before` of the next page; null on the last one.
    pub next: Option<String>,
}

/// What to do with a message while a turn is running.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum WhenBusy {
    /// Wait for the turns before it.
    #[default]
    Queue,
    /// Refuse with 409.
    Refuse,
}

/// A message to the agent.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PostMessage {
    pub prompt: String,
    #[serde(default)]
    #[ts(optional, as = "Option<WhenBusy>")]
    pub when_busy: WhenBusy,
    /// Changes to the state of the session's applet, applied before the message; see `setState` of `/ws/applet`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    #[ts(optional, type = "Record<string, JsonValue>")]
    pub applet_state: Option<Map<String, Value>>,
    /// An image as a base64 `data:` URL; it is stored in the session's folder, and the message refers to the file.
    #[serde(default)]
    #[ts(optional)]
    pub image_data: Option<String>,
}

/// An accepted message; it is stored.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessageAccepted {
    /// See `GET /api/stream/{streamId}`.
    pub stream_id: String,
    pub session_id: String,
}

#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct StopResult {
    /// Whether a turn was running.
    pub stopped: bool,
    /// Number of queued messages that were dropped.
    pub dropped: u32,
}

/// An answer to a question of the agent.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PostAnswer {
    pub question_id: String,
    pub answer: String,
}

#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct AgentInfo {
    pub name: String,
    pub description: String,
    /// Whether it can take a turn now.
    pub ready: bool,
    /// Why it is not ready.
    pub reason: Option<String>,
}

#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct AgentList {
    /// Used for sessions without an agent of their own.
    pub default: String,
    pub agents: Vec<AgentInfo>,
}
