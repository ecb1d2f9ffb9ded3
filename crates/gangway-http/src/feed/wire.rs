//! The wire types of a session.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use ts_rs::TS;
use utoipa::ToSchema;

use super::app_event::AppEvent;

/// The sender of a message.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Source {
    Person,
    Applet {
        slug: String,
    },
    /// An external agent.
    Agent {
        name: String,
    },
    /// A web page with the user's permission.
    Page {
        origin: String,
    },
}

/// Whether an applet may send messages in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum ConsentState {
    /// Only the message that waits now.
    Once,
    Allowed,
    Denied,
    /// Not decided yet.
    Ask,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum SessionState {
    Idle,
    Running,
}

#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    pub session_id: String,
    /// Taken from the first message unless one was set.
    pub title: Option<String>,
    /// The folder it works in.
    pub cwd: String,
    /// The model that was chosen.
    pub model: Option<String>,
    pub agent: String,
    pub state: SessionState,
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was last changed, or its last turn ended.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    Completed,
    Stopped,
    Failed,
    /// The server stopped or crashed during the turn.
    Interrupted,
}

/// Tokens used by a turn, as the model reported them.
#[derive(Debug, Clone, Copy, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    #[ts(type = "number")]
    pub input_tokens: u64,
    #[ts(type = "number")]
    pub output_tokens: u64,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum ToolState {
    Running,
    Done,
    Failed,
}

/// An entry of a conversation.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The number of its first event.
    #[ts(type = "number")]
    pub seq: u64,
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// The turn it belongs to.
    pub stream_id: String,
    /// Whether the chat hides it.
    pub hidden: bool,
    #[serde(flatten)]
    #[ts(flatten)]
    pub line: EntryBody,
}

#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(
    tag = "role",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum EntryBody {
    User {
        content: String,
        source: Source,
    },
    Assistant {
        message_id: String,
        content: String,
        /// True when the turn ended before the message was complete.
        partial: bool,
        /// True while more is coming.
        streaming: bool,
    },
    Tool {
        tool_call_id: String,
        /// `server/tool`.
        tool: String,
        /// What it was called with.
        #[ts(type = "JsonValue")]
        arguments: Value,
        state: ToolState,
        #[ts(type = "JsonValue | null")]
        result: Option<Value>,
        error: Option<String>,
    },
    Question {
        question_id: String,
        question: String,
        options: Vec<String>,
        answer: Option<String>,
    },
    /// An event between an app and its agent.
    App {
        launch_id: String,
        app: String,
        #[serde(rename = "news")]
        app_event: AppEvent,
    },
    /// A call of a page's tool by a caller outside of the session's turns.
    PageCall {
        page_id: String,
        call_id: String,
        /// `server/tool`.
        tool: String,
        #[ts(type = "JsonValue")]
        arguments: Value,
        /// Who called it.
        by: Source,
        state: ToolState,
        #[ts(type = "JsonValue | null")]
        result: Option<Value>,
        error: Option<String>,
    },
    /// A message of an external agent, or of the person at a page on the relay.
    PageMessage {
        page_id: String,
        content: String,
        /// The agent; none for the person.
        by: Option<String>,
    },
    /// A notice for the user about the turn.
    Notice {
        message: String,
    },
    /// The turn failed.
    Error {
        /// A machine-readable code.
        code: String,
        /// For the user.
        message: String,
        /// Whether the same prompt may work later.
        retryable: bool,
    },
    /// The turn ended without completing.
    End {
        outcome: Outcome,
    },
}

/// A part of a conversation, oldest entry first.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct History {
    pub session_id: String,
    pub entries: Vec<Entry>,
    /// Whether there are older entries; request them with `before` set to the first entry's `seq`.
    pub older: bool,
}

/// Everything a page needs to show a session and to follow it from `seq` on.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    pub session: Session,
    /// The number of the last event in it.
    #[ts(type = "number")]
    pub seq: u64,
    /// The newest entries.
    pub entries: Vec<Entry>,
    /// Whether there are older ones.
    pub older: bool,
    /// The running turn.
    pub running: Option<String>,
    /// The waiting turns.
    pub queued: Vec<String>,
    /// How full the model's context window is, if the agent reported it.
    pub context: Option<ContextUse>,
}

/// How full the model's context window is.
#[derive(Debug, Clone, Copy, Serialize, ToSchema, TS)]
pub struct ContextUse {
    /// Tokens in the context.
    #[ts(type = "number")]
    pub used: u64,
    /// The size of the context window, if known.
    #[ts(type = "number | null")]
    pub window: Option<u64>,
}
