//! What the sessions door hears and answers, as JSON.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;
use utoipa::ToSchema;

use gangway_http::feed::wire::Session;

/// How to make a session.
#[derive(Debug, Default, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[ts(optional_fields)]
pub struct CreateSession {
    /// The folder to work in; it must exist. A fresh one of its own when absent.
    pub cwd: Option<String>,
    /// The model to use.
    pub model: Option<String>,
    /// The agent to use; see `GET /api/agents`.
    pub agent: Option<String>,
    /// What to call it.
    pub title: Option<String>,
}

/// What to change of a session; what is absent stays.
#[derive(Debug, Default, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[ts(optional_fields)]
pub struct UpdateSession {
    /// What to call it.
    pub title: Option<String>,
    /// The model to use.
    pub model: Option<String>,
    /// The agent to use.
    pub agent: Option<String>,
}

/// A page of sessions, newest first.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct SessionList {
    /// The sessions.
    pub sessions: Vec<Session>,
    /// Give it as `before` to get the next page; null on the last one.
    pub next: Option<String>,
}

/// What to do with a message while another is being answered.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum WhenBusy {
    /// Wait for the turns before it.
    #[default]
    Queue,
    /// Refuse it with 409.
    Refuse,
}

/// A message to the agent.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PostMessage {
    /// What to say.
    pub prompt: String,
    /// What to do when the session is answering another message.
    #[serde(default)]
    #[ts(optional, as = "Option<WhenBusy>")]
    pub when_busy: WhenBusy,
    /// Changes to the state of the session's applet that are made before the message; see `setState` of `/ws/applet`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    #[ts(optional, type = "Record<string, JsonValue>")]
    pub applet_state: Option<Map<String, Value>>,
    /// A picture, as a `data:` URL in base64; it is kept in the session's folder, and the message names the file.
    #[serde(default)]
    #[ts(optional)]
    pub image_data: Option<String>,
}

/// A message that was accepted; it is on the disk.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessageAccepted {
    /// Names the answer; see `GET /api/stream/{streamId}`.
    pub stream_id: String,
    /// The session.
    pub session_id: String,
}

/// What a stop did.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct StopResult {
    /// Whether a turn was running.
    pub stopped: bool,
    /// How many waiting messages were dropped.
    pub dropped: u32,
}

/// An answer to a question of the agent.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PostAnswer {
    /// Which question.
    pub question_id: String,
    /// The answer.
    pub answer: String,
}

/// An agent that can take turns.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct AgentInfo {
    /// Its name.
    pub name: String,
    /// One line about it.
    pub description: String,
    /// Whether it can take a turn now.
    pub ready: bool,
    /// Why not.
    pub reason: Option<String>,
}

/// The agents there are.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct AgentList {
    /// The one that is used when nobody chose.
    pub default: String,
    /// All of them.
    pub agents: Vec<AgentInfo>,
}
