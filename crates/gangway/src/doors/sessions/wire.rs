//! What the sessions door says and hears, as JSON.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;
use utoipa::ToSchema;

use super::app_news::AppNews;

/// Who a message came from.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Source {
    /// A person typed it.
    Person,
    /// An applet sent it.
    Applet {
        /// Which applet.
        slug: String,
    },
    /// An agent from outside sent it.
    Agent {
        /// What it calls itself.
        name: String,
    },
    /// A web page sent it, by the person's permission.
    Page {
        /// Its origin.
        origin: String,
    },
}

/// Whether an applet may speak in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum Speak {
    /// It may say what it waits to say, and nothing else.
    Once,
    /// It may.
    Allowed,
    /// It may not.
    Denied,
    /// The person is asked.
    Ask,
}

/// Whether a session is answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum SessionState {
    /// No turn runs.
    Idle,
    /// A turn runs.
    Running,
}

/// A session.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Its id.
    pub session_id: String,
    /// What people call it; set from the first message when nobody chose one.
    pub title: Option<String>,
    /// The folder it works in.
    pub cwd: String,
    /// The model it was told to use.
    pub model: Option<String>,
    /// The agent that takes its turns.
    pub agent: String,
    /// Whether it is answering.
    pub state: SessionState,
    /// When it was made.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was last changed, or a turn of it ended.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

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

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// The agent finished.
    Completed,
    /// Someone stopped it.
    Stopped,
    /// The agent could not go on.
    Failed,
    /// The server stopped or died in the middle.
    Interrupted,
}

/// Tokens a turn used, as the model counted them.
#[derive(Debug, Clone, Copy, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens read.
    #[ts(type = "number")]
    pub input_tokens: u64,
    /// Tokens written.
    #[ts(type = "number")]
    pub output_tokens: u64,
}

/// How far a tool call is.
#[derive(Debug, Clone, Copy, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum ToolState {
    /// It has not answered yet.
    Running,
    /// It answered.
    Done,
    /// It failed.
    Failed,
}

/// One line of a conversation.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The number of the event it began with.
    #[ts(type = "number")]
    pub seq: u64,
    /// When it began.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// The turn it belongs to.
    pub stream_id: String,
    /// Whether the chat leaves it out.
    pub hidden: bool,
    /// What it is.
    #[serde(flatten)]
    #[ts(flatten)]
    pub line: Line,
}

/// What a line of a conversation can be.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(
    tag = "role",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Line {
    /// Somebody said something to the agent.
    User {
        /// What.
        content: String,
        /// Who.
        source: Source,
    },
    /// The agent said something.
    Assistant {
        /// The message.
        message_id: String,
        /// Its text so far.
        content: String,
        /// True when the turn ended before the agent finished it.
        partial: bool,
        /// True while more is coming.
        streaming: bool,
    },
    /// A tool was called.
    Tool {
        /// The call.
        tool_call_id: String,
        /// `server/tool`.
        tool: String,
        /// What it was called with.
        #[ts(type = "JsonValue")]
        arguments: Value,
        /// How far it is.
        state: ToolState,
        /// Its answer.
        #[ts(type = "JsonValue | null")]
        result: Option<Value>,
        /// Why it has none.
        error: Option<String>,
    },
    /// The agent asked the person.
    Question {
        /// The question.
        question_id: String,
        /// What was asked.
        question: String,
        /// Answers offered.
        options: Vec<String>,
        /// The answer, once it is there.
        answer: Option<String>,
    },
    /// Something happened between an app and its agent.
    App {
        /// Which opening of the app.
        launch_id: String,
        /// The app.
        app: String,
        /// What happened.
        news: AppNews,
    },
    /// Something the person should know about the turn.
    Notice {
        /// What.
        message: String,
    },
    /// The turn could not go on.
    Error {
        /// A short machine-readable reason.
        code: String,
        /// What to tell the person.
        message: String,
        /// Whether the same prompt may work later.
        retryable: bool,
    },
    /// The turn ended in another way than by finishing.
    End {
        /// How.
        outcome: Outcome,
    },
}

/// A part of a conversation, oldest line first.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// The session.
    pub session_id: String,
    /// The lines.
    pub entries: Vec<Entry>,
    /// Whether there are older ones; ask with `before` set to the first line's `seq`.
    pub older: bool,
}

/// Everything a page needs to draw a session and to follow it from `seq` on.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// The session.
    pub session: Session,
    /// The last number this covers.
    #[ts(type = "number")]
    pub seq: u64,
    /// The newest lines.
    pub entries: Vec<Entry>,
    /// Whether there are older ones.
    pub older: bool,
    /// The turn that runs.
    pub running: Option<String>,
    /// The turns that wait.
    pub queued: Vec<String>,
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
