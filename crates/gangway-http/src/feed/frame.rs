//! The frames of a session's feed: one for each event, the same over SSE and WebSocket.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use ts_rs::TS;
use utoipa::ToSchema;

use super::{
    app_event::AppEvent,
    ask_entry::{AskActor, AskOutcome, LoggedAsk},
    page_entry::{PageEntry, PageKind},
    wire::{ConsentState, Outcome, Snapshot, Source, Usage},
};
use crate::asks::wire::AskerInfo;

#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum FeedFrame {
    /// The current state; the following events come after `snapshot.seq`.
    #[serde(rename = "snapshot")]
    Snapshot { snapshot: Snapshot },
    /// Resuming would leave a gap; this is the current state instead.
    #[serde(rename = "resync")]
    Resync {
        /// `trimmed`, `future` or `malformed`.
        reason: String,
        snapshot: Snapshot,
    },
    /// The last frame of the feed.
    #[serde(rename = "closing")]
    Closing {
        /// `slow`, `deleted`, `shutdown`, `storage`, `revoked` or `flood`.
        reason: String,
        /// What to do about it.
        message: String,
    },
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
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    #[serde(flatten)]
    #[ts(flatten)]
    pub event: EventBody,
}

#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum EventBody {
    /// The session came to be.
    #[serde(rename = "session.created")]
    Created {
        cwd: String,
        title: Option<String>,
        model: Option<String>,
        agent: String,
    },
    /// Title, model or agent changed.
    #[serde(rename = "session.changed")]
    Changed {
        title: Option<String>,
        model: Option<String>,
        agent: String,
    },
    #[serde(rename = "user.message")]
    UserMessage {
        /// The turn that answers it.
        stream_id: String,
        prompt: String,
        source: Source,
        /// Whether the chat shows it and the turn.
        show_in_chat: bool,
    },
    /// A turn started.
    #[serde(rename = "assistant.turn_start")]
    TurnStart {
        stream_id: String,
        agent: String,
        /// The model that was chosen.
        model: Option<String>,
    },
    /// A part of a message.
    #[serde(rename = "assistant.message_delta")]
    MessageDelta {
        stream_id: String,
        message_id: String,
        delta: String,
    },
    /// A complete message of the agent.
    #[serde(rename = "assistant.message")]
    Message {
        stream_id: String,
        message_id: String,
        content: String,
        /// True when the turn ended before the message was complete.
        partial: bool,
        /// Numbers of the first and the last delta it replaces; a reader that resumes later may not get those.
        #[ts(type = "[number, number] | null")]
        replaces: Option<(u64, u64)>,
    },
    #[serde(rename = "tool.execution_start")]
    ToolStart {
        stream_id: String,
        tool_call_id: String,
        /// `server/tool`.
        tool: String,
        /// What it was called with.
        #[ts(type = "JsonValue")]
        arguments: Value,
    },
    #[serde(rename = "tool.execution_complete")]
    ToolComplete {
        stream_id: String,
        tool_call_id: String,
        /// `server/tool`.
        tool: String,
        success: bool,
        #[ts(type = "JsonValue | null")]
        result: Option<Value>,
        error: Option<String>,
    },
    /// The agent asks the user.
    #[serde(rename = "session.question")]
    Question {
        stream_id: String,
        question_id: String,
        question: String,
        /// Suggested answers; others are allowed.
        options: Vec<String>,
    },
    #[serde(rename = "session.answer")]
    Answer {
        stream_id: String,
        question_id: String,
        answer: String,
    },
    #[serde(rename = "applet.state")]
    State {
        applet: String,
        /// Its version after the change.
        #[ts(type = "number")]
        version: u64,
        /// The keys that changed; `null` removed a key.
        #[ts(type = "Record<string, JsonValue>")]
        patch: Map<String, Value>,
        source: Source,
    },
    /// An applet asks for consent to send messages in this session.
    #[serde(rename = "applet.asks")]
    ConsentRequested {
        applet: String,
        /// The message it wants to send.
        prompt: String,
    },
    /// The user decided whether an applet may send messages in this session.
    #[serde(rename = "applet.leave")]
    ConsentChanged { applet: String, speak: ConsentState },
    /// Open an applet beside the chat.
    #[serde(rename = "applet.open")]
    AppletOpen { applet: String },
    /// Reload the pages of this session.
    #[serde(rename = "page.reload")]
    Reload {
        /// Only this applet.
        applet: Option<String>,
    },
    /// An event between an app and its agent.
    #[serde(rename = "app")]
    App {
        launch_id: String,
        app: String,
        #[serde(rename = "news")]
        app_event: AppEvent,
    },
    /// An event about a page of the session.
    #[serde(rename = "page")]
    Page {
        page_id: String,
        page_kind: PageKind,
        /// The app, applet, site or relay session that it is.
        name: String,
        #[serde(rename = "news")]
        page_event: PageEntry,
    },
    /// The user is asked, for a page or an agent of the session.
    #[serde(rename = "ask.opened")]
    AskOpened {
        /// Identifies the request in this session.
        ask_id: String,
        asker: AskerInfo,
        request: LoggedAsk,
    },
    /// Such a request was answered, or is over without an answer.
    #[serde(rename = "ask.closed")]
    AskClosed {
        ask_id: String,
        outcome: AskOutcome,
        /// Where the user answered.
        by: Option<AskActor>,
    },
    /// A notice for the user about the turn.
    #[serde(rename = "session.notice")]
    Notice { stream_id: String, message: String },
    /// How full the model's context window is.
    #[serde(rename = "session.context")]
    Context {
        stream_id: String,
        /// Tokens in the context.
        #[ts(type = "number")]
        used: u64,
        /// The size of the context window, if known.
        #[ts(type = "number | null")]
        window: Option<u64>,
    },
    /// The turn failed.
    #[serde(rename = "session.error")]
    Error {
        stream_id: String,
        /// A machine-readable code.
        code: String,
        /// For the user.
        message: String,
        /// Whether the same prompt may work later.
        retryable: bool,
    },
    #[serde(rename = "done")]
    Done {
        stream_id: String,
        outcome: Outcome,
        usage: Option<Usage>,
        /// True when no other message waits.
        idle: bool,
    },
}

impl FeedFrame {
    /// The event name on SSE.
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
    /// The event name on SSE.
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
            EventBody::ConsentRequested { .. } => "applet.asks",
            EventBody::ConsentChanged { .. } => "applet.leave",
            EventBody::App { .. } => "app",
            EventBody::Page { .. } => "page",
            EventBody::AskOpened { .. } => "ask.opened",
            EventBody::AskClosed { .. } => "ask.closed",
            EventBody::Notice { .. } => "session.notice",
            EventBody::Context { .. } => "session.context",
            EventBody::Error { .. } => "session.error",
            EventBody::Done { .. } => "done",
        }
    }
}
