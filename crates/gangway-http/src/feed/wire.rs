//! A session as readers see it, as JSON.

use jiff::Timestamp;
use serde::Serialize;
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
    /// How full the model's window is, where the agent told.
    pub context: Option<ContextUse>,
}

/// How full the model's window is.
#[derive(Debug, Clone, Copy, Serialize, ToSchema, TS)]
pub struct ContextUse {
    /// Tokens in it.
    #[ts(type = "number")]
    pub used: u64,
    /// Tokens that fit, where that is known.
    #[ts(type = "number | null")]
    pub window: Option<u64>,
}
