//! Everything a session may say, and an event as the log keeps it.

use bytes::Bytes;
use jiff::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    app::AppNews,
    id::{AppName, CallId, LaunchId, MessageId, QuestionId, Slug},
    session::Profile,
};

/// Who a message came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leave {
    /// It may say what it waits to say, and is asked about again after that.
    Once,
    /// It may.
    Allowed,
    /// It may not.
    Denied,
    /// Nobody decided; it is asked about.
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
    /// Someone stopped it.
    Stopped,
    /// The agent could not go on.
    Failed,
    /// The server stopped or died in the middle.
    Interrupted,
}

/// Tokens a turn used, as the model counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

/// Something that an answer rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The tool that said it, as `server/tool`.
    pub reference: String,
    /// The beginning of what it said.
    pub excerpt: String,
}

/// Anything that a session may say. `turn` is the number of the message that started the turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The session came to be.
    Created {
        /// What it was made with.
        profile: Profile,
    },
    /// Title, model or agent changed.
    Changed {
        /// What they are now.
        profile: Profile,
    },
    /// A message was accepted; its own number names the turn.
    MessageStarted {
        /// What was said.
        prompt: String,
        /// Who said it.
        source: Source,
        /// Whether the chat shows it and what comes of it.
        #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
        shown: bool,
    },
    /// The agent began to work on a message.
    TurnStarted {
        /// The turn.
        turn: u64,
        /// The agent that took it.
        agent: String,
        /// The model it was told to use, if any.
        model: Option<String>,
    },
    /// A piece of an answer.
    Delta {
        /// The turn.
        turn: u64,
        /// The message it belongs to.
        message: MessageId,
        /// The piece.
        text: String,
    },
    /// A whole message of the agent; it stands for its deltas.
    Message {
        /// The turn.
        turn: u64,
        /// The message.
        message: MessageId,
        /// All of its text.
        text: String,
        /// True when the turn ended before the agent finished it.
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
        /// What it was called with.
        arguments: Value,
    },
    /// A tool answered, or was wanted and not called: then no call comes before it.
    ToolResult {
        /// The turn.
        turn: u64,
        /// The call.
        call: CallId,
        /// `server/tool`.
        tool: String,
        /// The answer, or why there is none.
        result: std::result::Result<Value, String>,
        /// The error code where the tool failed with one, as pages know it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
    /// The agent asks the person.
    Question {
        /// The turn.
        turn: u64,
        /// The question.
        question: QuestionId,
        /// What is asked.
        text: String,
        /// Answers offered; others are allowed.
        options: Vec<String>,
    },
    /// Somebody answered.
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
        /// Whose state.
        applet: Slug,
        /// Its version after the change; each change counts it up by one.
        version: u64,
        /// The keys that changed; `null` took a key away.
        patch: Map<String, Value>,
        /// Who changed it.
        source: Source,
    },
    /// An applet is to be opened beside the chat.
    OpenAsked {
        /// Which.
        applet: Slug,
    },
    /// The pages of this session are to be loaded anew.
    ReloadAsked {
        /// Only this applet.
        applet: Option<Slug>,
    },
    /// An applet wants to speak in this session, and waits for the person's leave.
    LeaveAsked {
        /// Which applet.
        applet: Slug,
        /// What it wants to say.
        prompt: String,
    },
    /// The person decided whether an applet may speak in this session.
    LeaveChanged {
        /// Which applet.
        applet: Slug,
        /// What was decided.
        leave: Leave,
    },
    /// Something happened between an app and its agent.
    App {
        /// Which opening of the app.
        launch: LaunchId,
        /// The app.
        app: AppName,
        /// What happened.
        news: AppNews,
    },
    /// Something the person should know about this turn.
    Notice {
        /// The turn.
        turn: u64,
        /// What.
        text: String,
    },
    /// How full the model's window is.
    ContextUsed {
        /// The turn.
        turn: u64,
        /// Tokens in it.
        used: u64,
        /// Tokens that fit, where that is known.
        window: Option<u64>,
    },
    /// The turn cannot go on.
    Failed {
        /// The turn.
        turn: u64,
        /// A short machine-readable reason.
        code: String,
        /// What to tell the person.
        message: String,
        /// Whether the same prompt may work later.
        retryable: bool,
    },
    /// The turn is over.
    TurnEnded {
        /// The turn.
        turn: u64,
        /// How it ended.
        outcome: Outcome,
        /// What it used, if the model told.
        usage: Option<Usage>,
        /// True when no other message waits.
        idle: bool,
        /// What the answer rests on, where the agent was told to say so.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        citations: Vec<Citation>,
    },
}

/// What the log needs to know of an event without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It stays.
    Plain = 0,
    /// A piece of a message, which may be dropped once the message is whole.
    Delta = 1,
    /// It stays, and no message is open after it.
    Closing = 2,
}

impl Event {
    /// What the log needs to know of it without reading it.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Delta { .. } => Kind::Delta,
            Self::Message { .. } | Self::TurnStarted { .. } | Self::TurnEnded { .. } => {
                Kind::Closing
            }
            _ => Kind::Plain,
        }
    }

    /// The turn it belongs to, given its own number.
    #[must_use]
    pub fn turn(&self, own: u64) -> Option<u64> {
        match self {
            Self::Created { .. }
            | Self::Changed { .. }
            | Self::StateChanged { .. }
            | Self::ReloadAsked { .. }
            | Self::OpenAsked { .. }
            | Self::LeaveAsked { .. }
            | Self::LeaveChanged { .. }
            | Self::App { .. } => None,
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

/// The time to the millisecond, so that it reads back just as it was first seen.
#[must_use]
pub fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}

/// An event with its number and time, as the log keeps it and every reader shares it.
#[derive(Debug)]
pub struct Logged {
    /// Its number in the session, from 1.
    pub seq: u64,
    /// When it was written.
    pub at: Timestamp,
    /// The event.
    pub event: Event,
    /// How large it is on disk, for bounds.
    pub size: usize,
    encoded: Mutex<Vec<(&'static str, Bytes)>>,
}

impl Logged {
    /// An event as it was numbered and stored.
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

    /// The event on a wire, encoded once and then shared by everyone who reads on that wire.
    pub fn encoded(&self, wire: &'static str, encode: impl FnOnce(&Self) -> Bytes) -> Bytes {
        let mut kept = self.encoded.lock();
        if let Some((_, bytes)) = kept.iter().find(|(name, _)| *name == wire) {
            return bytes.clone();
        }
        let bytes = encode(self);
        kept.push((wire, bytes.clone()));
        bytes
    }
}
