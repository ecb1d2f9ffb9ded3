//! The frames of a session's feed: one for each event, the same on SSE and on WebSocket.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use ts_rs::TS;
use utoipa::ToSchema;

use super::{
    app_news::AppNews,
    wire::{Outcome, Snapshot, Source, Speak, Usage},
};

/// A frame of a session's feed.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum FeedFrame {
    /// The session as it is; what follows comes after `snapshot.seq`.
    #[serde(rename = "snapshot")]
    Snapshot {
        /// The session as it is.
        snapshot: Snapshot,
    },
    /// The number to resume from cannot be served without a gap; here is the session as it is instead.
    #[serde(rename = "resync")]
    Resync {
        /// `trimmed`, `future` or `malformed`.
        reason: String,
        /// The session as it is.
        snapshot: Snapshot,
    },
    /// The feed ends after this.
    #[serde(rename = "closing")]
    Closing {
        /// `slow`, `deleted`, `shutdown`, `storage`, `revoked` or `flood`.
        reason: String,
        /// What to do about it.
        message: String,
    },
    /// Something that happened.
    #[serde(untagged)]
    Event(EventFrame),
}

/// An event with its number and time.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventFrame {
    /// Its number in the session.
    #[ts(type = "number")]
    pub seq: u64,
    /// When it was written.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    #[ts(flatten)]
    pub event: EventBody,
}

/// What can happen in a session.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum EventBody {
    /// The session came to be.
    #[serde(rename = "session.created")]
    Created {
        /// Its folder.
        cwd: String,
        /// Its title.
        title: Option<String>,
        /// Its model.
        model: Option<String>,
        /// Its agent.
        agent: String,
    },
    /// Title, model or agent changed.
    #[serde(rename = "session.changed")]
    Changed {
        /// Its title.
        title: Option<String>,
        /// Its model.
        model: Option<String>,
        /// Its agent.
        agent: String,
    },
    /// A message was accepted.
    #[serde(rename = "user.message")]
    UserMessage {
        /// Names the turn that answers it.
        stream_id: String,
        /// What was said.
        prompt: String,
        /// Who said it.
        source: Source,
        /// Whether the chat shows it and what comes of it.
        show_in_chat: bool,
    },
    /// The agent began to work on a message.
    #[serde(rename = "assistant.turn_start")]
    TurnStart {
        /// The turn.
        stream_id: String,
        /// The agent.
        agent: String,
        /// The model it was told to use.
        model: Option<String>,
    },
    /// A piece of an answer.
    #[serde(rename = "assistant.message_delta")]
    MessageDelta {
        /// The turn.
        stream_id: String,
        /// The message it belongs to.
        message_id: String,
        /// The piece.
        delta: String,
    },
    /// A whole message of the agent.
    #[serde(rename = "assistant.message")]
    Message {
        /// The turn.
        stream_id: String,
        /// The message.
        message_id: String,
        /// All of its text.
        content: String,
        /// True when the turn ended before the agent finished it.
        partial: bool,
        /// Numbers of the first and the last delta it stands for; a reader that resumes later may not get those again.
        #[ts(type = "[number, number] | null")]
        replaces: Option<(u64, u64)>,
    },
    /// The agent called a tool.
    #[serde(rename = "tool.execution_start")]
    ToolStart {
        /// The turn.
        stream_id: String,
        /// The call.
        tool_call_id: String,
        /// `server/tool`.
        tool: String,
        /// What it was called with.
        #[ts(type = "JsonValue")]
        arguments: Value,
    },
    /// A tool answered.
    #[serde(rename = "tool.execution_complete")]
    ToolComplete {
        /// The turn.
        stream_id: String,
        /// The call.
        tool_call_id: String,
        /// `server/tool`.
        tool: String,
        /// Whether it worked.
        success: bool,
        /// Its answer.
        #[ts(type = "JsonValue | null")]
        result: Option<Value>,
        /// Why it has none.
        error: Option<String>,
    },
    /// The agent asks the person.
    #[serde(rename = "session.question")]
    Question {
        /// The turn.
        stream_id: String,
        /// The question.
        question_id: String,
        /// What is asked.
        question: String,
        /// Answers offered; others are allowed.
        options: Vec<String>,
    },
    /// Somebody answered.
    #[serde(rename = "session.answer")]
    Answer {
        /// The turn.
        stream_id: String,
        /// The question.
        question_id: String,
        /// The answer.
        answer: String,
    },
    /// The state of an applet changed.
    #[serde(rename = "applet.state")]
    State {
        /// Whose state.
        applet: String,
        /// Its version after the change.
        #[ts(type = "number")]
        version: u64,
        /// The keys that changed; `null` took a key away.
        #[ts(type = "Record<string, JsonValue>")]
        patch: Map<String, Value>,
        /// Who changed it.
        source: Source,
    },
    /// An applet wants to speak in this session, and waits for the person's leave.
    #[serde(rename = "applet.asks")]
    AppletAsks {
        /// Which applet.
        applet: String,
        /// What it wants to say.
        prompt: String,
    },
    /// The person decided whether an applet may speak in this session.
    #[serde(rename = "applet.leave")]
    AppletLeave {
        /// Which applet.
        applet: String,
        /// What was decided.
        speak: Speak,
    },
    /// An applet is to be opened beside the chat.
    #[serde(rename = "applet.open")]
    AppletOpen {
        /// Which.
        applet: String,
    },
    /// The pages of this session are to be loaded anew.
    #[serde(rename = "page.reload")]
    Reload {
        /// Only this applet.
        applet: Option<String>,
    },
    /// Something happened between an app and its agent.
    #[serde(rename = "app")]
    App {
        /// Which opening of the app.
        launch_id: String,
        /// The app.
        app: String,
        /// What happened.
        news: AppNews,
    },
    /// Something the person should know about the turn.
    #[serde(rename = "session.notice")]
    Notice {
        /// The turn.
        stream_id: String,
        /// What.
        message: String,
    },
    /// How full the model's window is.
    #[serde(rename = "session.context")]
    Context {
        /// The turn.
        stream_id: String,
        /// Tokens in it.
        #[ts(type = "number")]
        used: u64,
        /// Tokens that fit, where that is known.
        #[ts(type = "number | null")]
        window: Option<u64>,
    },
    /// The turn cannot go on.
    #[serde(rename = "session.error")]
    Error {
        /// The turn.
        stream_id: String,
        /// A short machine-readable reason.
        code: String,
        /// What to tell the person.
        message: String,
        /// Whether the same prompt may work later.
        retryable: bool,
    },
    /// The turn is over.
    #[serde(rename = "done")]
    Done {
        /// The turn.
        stream_id: String,
        /// How it ended.
        outcome: Outcome,
        /// What it used.
        usage: Option<Usage>,
        /// True when no other message waits.
        idle: bool,
    },
}

impl FeedFrame {
    /// The name of the frame on SSE.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Snapshot { .. } => "snapshot",
            Self::Resync { .. } => "resync",
            Self::Closing { .. } => "closing",
            Self::Event(frame) => frame.name(),
        }
    }
}

impl EventFrame {
    /// The name of the frame on SSE.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match &self.event {
            EventBody::Created { .. } => "session.created",
            EventBody::Changed { .. } => "session.changed",
            EventBody::UserMessage { .. } => "user.message",
            EventBody::TurnStart { .. } => "assistant.turn_start",
            EventBody::MessageDelta { .. } => "assistant.message_delta",
            EventBody::Message { .. } => "assistant.message",
            EventBody::ToolStart { .. } => "tool.execution_start",
            EventBody::ToolComplete { .. } => "tool.execution_complete",
            EventBody::Question { .. } => "session.question",
            EventBody::Answer { .. } => "session.answer",
            EventBody::State { .. } => "applet.state",
            EventBody::Reload { .. } => "page.reload",
            EventBody::AppletOpen { .. } => "applet.open",
            EventBody::AppletAsks { .. } => "applet.asks",
            EventBody::AppletLeave { .. } => "applet.leave",
            EventBody::App { .. } => "app",
            EventBody::Notice { .. } => "session.notice",
            EventBody::Context { .. } => "session.context",
            EventBody::Error { .. } => "session.error",
            EventBody::Done { .. } => "done",
        }
    }
}
