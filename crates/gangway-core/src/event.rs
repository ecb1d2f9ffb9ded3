//! Events of a session, and an event as stored in the log.

use bytes::Bytes;
use jiff::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    app::AppEvent,
    asks::AskEntry,
    id::{AppName, CallId, LaunchId, MessageId, QuestionId, Slug},
    page::{PageEntry, PageId, PageKind},
    session::Profile,
};

/// Who sent a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Source {
    /// The user typed it.
    Person,
    /// An applet sent it.
    Applet {
        /// The applet's name.
        slug: String,
    },
    /// An external agent sent it.
    Agent {
        /// Its name.
        name: String,
    },
    /// A web page sent it, as granted by the user.
    Page {
        /// Its origin.
        origin: String,
    },
}

/// The user's consent to messages of an applet in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// Allowed for the waiting message only; the next one is asked about again.
    Once,
    /// Allowed.
    Allowed,
    /// Denied.
    Denied,
    /// Undecided; the user is asked.
    Open,
}

fn yes() -> bool {
    true
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The agent finished.
    Completed,
    /// The user stopped it.
    Stopped,
    /// The agent failed.
    Failed,
    /// The server stopped or crashed during the turn.
    Interrupted,
}

/// Tokens of a turn, as counted by the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
}

/// A source of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The tool, as `server/tool`.
    pub reference: String,
    /// The beginning of its result.
    pub excerpt: String,
}

/// An event of a session. `turn` is the number of the message that started the turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The session was created.
    Created {
        /// Its settings.
        profile: Profile,
    },
    /// Title, model or agent changed.
    Changed {
        /// The new settings.
        profile: Profile,
    },
    /// A message was accepted; its number names the turn.
    MessageStarted {
        /// The text.
        prompt: String,
        /// Who sent it.
        source: Source,
        /// Whether the chat shows the message and its turn.
        #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
        shown: bool,
    },
    /// A turn began.
    TurnStarted {
        /// The turn.
        turn: u64,
        /// The agent that took it.
        agent: String,
        /// The model of the session, if set.
        model: Option<String>,
    },
    /// A part of a message of the agent.
    Delta {
        /// The turn.
        turn: u64,
        /// The message.
        message: MessageId,
        /// The added text.
        text: String,
    },
    /// A complete message of the agent; it replaces its deltas.
    Message {
        /// The turn.
        turn: u64,
        /// The message.
        message: MessageId,
        /// The full text.
        text: String,
        /// Whether the turn ended before the message was complete.
        partial: bool,
        /// Numbers of its first and last delta, which may be dropped from the log.
        replaces: Option<(u64, u64)>,
    },
    /// The agent called a tool.
    ToolCall {
        /// The turn.
        turn: u64,
        /// The call.
        call: CallId,
        /// `server/tool`.
        tool: String,
        /// The arguments.
        arguments: Value,
    },
    /// A tool result. No call precedes it if the tool was requested but not called.
    ToolResult {
        /// The turn.
        turn: u64,
        /// The call.
        call: CallId,
        /// `server/tool`.
        tool: String,
        /// The result, or an error.
        result: std::result::Result<Value, String>,
        /// The error code, as pages know it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
    /// The agent asks the user.
    Question {
        /// The turn.
        turn: u64,
        /// The question.
        question: QuestionId,
        /// The text.
        text: String,
        /// Suggested answers; others are allowed.
        options: Vec<String>,
    },
    /// A question was answered.
    Answer {
        /// The turn.
        turn: u64,
        /// The question.
        question: QuestionId,
        /// The answer.
        text: String,
    },
    /// The state of an applet changed.
    StateChanged {
        /// The applet.
        applet: Slug,
        /// Its version after the change; each change increments it.
        version: u64,
        /// The changed keys; `null` removed a key.
        patch: Map<String, Value>,
        /// Who changed it.
        source: Source,
    },
    /// An applet is opened beside the chat.
    OpenAsked {
        /// The applet.
        applet: Slug,
    },
    /// The pages of this session reload.
    ReloadAsked {
        /// Only this applet.
        applet: Option<Slug>,
    },
    /// An applet's message waits for the user's consent.
    #[serde(rename = "leave_asked")]
    ConsentRequested {
        /// The applet.
        applet: Slug,
        /// The message.
        prompt: String,
    },
    /// The user decided about the consent for an applet.
    #[serde(rename = "leave_changed")]
    ConsentChanged {
        /// The applet.
        applet: Slug,
        /// The decision.
        #[serde(rename = "leave")]
        consent: Consent,
    },
    /// An event between an app and its agent.
    App {
        /// The launch.
        launch: LaunchId,
        /// The app.
        app: AppName,
        /// The event.
        #[serde(rename = "news")]
        app_event: AppEvent,
    },
    /// An event about a page of the session.
    Page {
        /// The page.
        page: PageId,
        /// Its kind.
        page_kind: PageKind,
        /// The app, applet, site or relay session that it is.
        name: String,
        /// The event.
        #[serde(rename = "news")]
        page_event: PageEntry,
    },
    /// A request to the user for a page or an agent of the session, or its end.
    Ask {
        /// Identifies the request in this session.
        ask: String,
        /// The entry.
        entry: AskEntry,
    },
    /// A notice about this turn for the user.
    Notice {
        /// The turn.
        turn: u64,
        /// The text.
        text: String,
    },
    /// Context usage.
    ContextUsed {
        /// The turn.
        turn: u64,
        /// Tokens in the context.
        used: u64,
        /// Size of the context window, if known.
        window: Option<u64>,
    },
    /// The turn failed.
    Failed {
        /// The turn.
        turn: u64,
        /// A short machine-readable reason.
        code: String,
        /// The message for the user.
        message: String,
        /// Whether a retry may succeed.
        retryable: bool,
    },
    /// The turn is over.
    TurnEnded {
        /// The turn.
        turn: u64,
        /// How it ended.
        outcome: Outcome,
        /// Token usage, if the model reported it.
        usage: Option<Usage>,
        /// Whether the queue is empty.
        idle: bool,
        /// The sources of the answer, if the agent was asked to cite them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        citations: Vec<Citation>,
    },
}

/// How the log treats an event, without parsing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// Kept.
    Plain = 0,
    /// A delta, which may be dropped once its message is complete.
    Delta = 1,
    /// Kept, and no message is open after it.
    Closing = 2,
}

impl Event {
    /// How the log treats this event.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        match self {
            Self::Delta { .. } => EventKind::Delta,
            Self::Message { .. } | Self::TurnStarted { .. } | Self::TurnEnded { .. } => {
                EventKind::Closing
            }
            _ => EventKind::Plain,
        }
    }

    /// The turn of the event, given the event's number.
    #[must_use]
    pub fn turn(&self, own: u64) -> Option<u64> {
        match self {
            Self::Created { .. }
            | Self::Changed { .. }
            | Self::StateChanged { .. }
            | Self::ReloadAsked { .. }
            | Self::OpenAsked { .. }
            | Self::ConsentRequested { .. }
            | Self::ConsentChanged { .. }
            | Self::App { .. }
            | Self::Page { .. }
            | Self::Ask { .. } => None,
            Self::MessageStarted { .. } => Some(own),
            Self::TurnStarted { turn, .. }
            | Self::Delta { turn, .. }
            | Self::Message { turn, .. }
            | Self::ToolCall { turn, .. }
            | Self::ToolResult { turn, .. }
            | Self::Question { turn, .. }
            | Self::Answer { turn, .. }
            | Self::Notice { turn, .. }
            | Self::ContextUsed { turn, .. }
            | Self::Failed { turn, .. }
            | Self::TurnEnded { turn, .. } => Some(*turn),
        }
    }
}

/// The current time in milliseconds, so that it is the same when read back.
#[must_use]
pub fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}

/// An event with its number and time, shared by all readers.
#[derive(Debug)]
pub struct Logged {
    /// Its number in the session, from 1.
    pub seq: u64,
    /// When it was written.
    pub at: Timestamp,
    /// The event.
    pub event: Event,
    /// Its size on disk, for limits.
    pub size: usize,
    encoded: Mutex<Vec<(&'static str, Bytes)>>,
}

impl Logged {
    /// An event with its assigned number and time.
    #[must_use]
    pub fn new(seq: u64, at: Timestamp, event: Event, size: usize) -> Self {
        Self {
            seq,
            at,
            event,
            size,
            encoded: Mutex::default(),
        }
    }

    /// The event encoded for a protocol: encoded once, and shared by all readers of that protocol.
    pub fn encoded(&self, wire: &'static str, encode: impl FnOnce(&Self) -> Bytes) -> Bytes {
        let mut stored = self.encoded.lock();
        if let Some((_, bytes)) = stored.iter().find(|(name, _)| *name == wire) {
            return bytes.clone();
        }
        let bytes = encode(self);
        stored.push((wire, bytes.clone()));
        bytes
    }
}
