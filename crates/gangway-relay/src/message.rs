//! The messages of the external agent protocol: who may send which, and how they are written.

use axum::extract::ws::Utf8Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use ts_rs::TS;

/// The version of the protocol.
pub const VERSION: &str = "mvp-0.2";

/// What somebody in a relay session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
#[ts(rename = "RelayRole")]
pub enum Role {
    /// The page.
    Host,
    /// An agent.
    Agent,
}

/// Why something was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[ts(rename = "RelayCode")]
pub enum Code {
    /// It is no message, or not one that this role may send.
    InvalidMessage,
    /// Nobody joined, or there is no page.
    SessionNotActive,
    /// The page has no such tool.
    UnknownTool,
    /// It cannot be done like that.
    InvalidParams,
    /// The page shows nothing yet.
    NoActiveSpec,
    /// It was tried and failed.
    ToolExecutionFailed,
}

/// A refusal: its code, and words for whoever wrote the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Which kind.
    pub code: Code,
    /// What was wrong, and what to do.
    pub message: String,
}

impl Refusal {
    /// With these words.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

/// What agents send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TS)]
#[ts(rename = "RelayFromAgent")]
pub enum FromAgent {
    /// Begin a study session.
    #[ts(rename = "session.start")]
    SessionStart,
    /// Tell what is to be seen.
    #[ts(rename = "snapshot.get")]
    SnapshotGet,
    /// Use a tool.
    #[ts(rename = "tool.call")]
    ToolCall,
    /// Say something to the person.
    #[ts(rename = "agent.message")]
    AgentMessage,
    /// Show what the agent is doing.
    #[ts(rename = "agent.status")]
    AgentStatus,
    /// Bring the page to its beginning; a study session goes on.
    #[ts(rename = "session.reset")]
    SessionReset,
    /// End the study session.
    #[ts(rename = "session.end")]
    SessionEnd,
}

/// What pages send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TS)]
#[ts(rename = "RelayFromHost")]
pub enum FromHost {
    /// The study session has begun.
    #[ts(rename = "session.started")]
    SessionStarted,
    /// What is to be seen.
    #[ts(rename = "snapshot.state")]
    SnapshotState,
    /// What came of a tool.
    #[ts(rename = "tool.result")]
    ToolResult,
    /// What is to be seen changed.
    #[ts(rename = "state.updated")]
    StateUpdated,
    /// The person said something.
    #[ts(rename = "user.message")]
    UserMessage,
    /// The study session has ended.
    #[ts(rename = "session.ended")]
    SessionEnded,
    /// It was not done.
    #[ts(rename = "error")]
    Error,
}

impl FromAgent {
    /// By its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "session.start" => Self::SessionStart,
            "snapshot.get" => Self::SnapshotGet,
            "tool.call" => Self::ToolCall,
            "agent.message" => Self::AgentMessage,
            "agent.status" => Self::AgentStatus,
            "session.reset" => Self::SessionReset,
            "session.end" => Self::SessionEnd,
            _ => return None,
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session.start",
            Self::SnapshotGet => "snapshot.get",
            Self::ToolCall => "tool.call",
            Self::AgentMessage => "agent.message",
            Self::AgentStatus => "agent.status",
            Self::SessionReset => "session.reset",
            Self::SessionEnd => "session.end",
        }
    }

    /// Whether the page answers it; to anything else it may object with an error.
    #[must_use]
    pub fn is_answered(self) -> bool {
        !matches!(self, Self::AgentMessage | Self::AgentStatus)
    }

    /// Whether this answers it.
    #[must_use]
    pub fn is_answered_by(self, answer: FromHost) -> bool {
        matches!(
            (self, answer),
            (_, FromHost::Error)
                | (Self::SessionStart, FromHost::SessionStarted)
                | (
                    Self::SnapshotGet | Self::SessionReset,
                    FromHost::SnapshotState
                )
                | (Self::ToolCall, FromHost::ToolResult)
                | (Self::SessionEnd, FromHost::SessionEnded)
        )
    }
}

impl FromHost {
    /// By its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "session.started" => Self::SessionStarted,
            "snapshot.state" => Self::SnapshotState,
            "tool.result" => Self::ToolResult,
            "state.updated" => Self::StateUpdated,
            "user.message" => Self::UserMessage,
            "session.ended" => Self::SessionEnded,
            "error" => Self::Error,
            _ => return None,
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionStarted => "session.started",
            Self::SnapshotState => "snapshot.state",
            Self::ToolResult => "tool.result",
            Self::StateUpdated => "state.updated",
            Self::UserMessage => "user.message",
            Self::SessionEnded => "session.ended",
            Self::Error => "error",
        }
    }
}

/// A message on its way out.
#[derive(Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(rename = "RelayEnvelope", concrete(P = ()))]
pub struct Envelope<'a, P: Serialize> {
    /// The version.
    #[ts(type = "RelayVersion")]
    pub v: &'static str,
    /// The type.
    pub r#type: &'a str,
    /// The name of a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub id: Option<&'a str>,
    /// The question that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reply_to: Option<&'a str>,
    /// Its number in the relay session, to resume after.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub seq: Option<u64>,
    /// What it says.
    #[ts(type = "Record<string, unknown>")]
    pub payload: P,
}

impl<P: Serialize> Envelope<'_, P> {
    /// As it is sent.
    pub fn text(&self) -> Utf8Bytes {
        // With string keys it always encodes.
        serde_json::to_string(self).unwrap_or_default().into()
    }
}

/// What an error says.
#[derive(Serialize, TS)]
#[ts(rename = "RelayError")]
pub struct ErrorPayload<'a> {
    /// Its code.
    pub code: Code,
    /// In words.
    pub message: &'a str,
    /// Another page took the place of this one, which should not come back by itself: the two would throw each other out for ever.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub replaced: bool,
}

/// Who is in a relay session.
#[derive(Serialize, TS)]
#[ts(rename = "RelayPresence")]
pub struct Presence {
    /// Whether there is a page.
    pub host: bool,
    /// How many agents there are.
    pub agents: usize,
    /// What they are called.
    pub names: Vec<String>,
}

/// A refusal as it is sent.
#[must_use]
pub fn error_text(refusal: &Refusal, reply_to: Option<&str>, seq: Option<u64>) -> Utf8Bytes {
    let envelope = Envelope {
        v: VERSION,
        r#type: "error",
        id: None,
        reply_to,
        seq,
        payload: ErrorPayload {
            code: refusal.code,
            message: &refusal.message,
            replaced: false,
        },
    };
    envelope.text()
}

/// What a page is told when another took its place.
#[must_use]
pub fn replaced_text() -> Utf8Bytes {
    let said = ErrorPayload {
        code: Code::SessionNotActive,
        message: "another page took the place of this one",
        replaced: true,
    };
    message_text("error", None, &said)
}

/// A message of the relay itself.
#[must_use]
pub fn message_text(kind: &str, reply_to: Option<&str>, payload: &impl Serialize) -> Utf8Bytes {
    let envelope = Envelope {
        v: VERSION,
        r#type: kind,
        id: None,
        reply_to,
        seq: None,
        payload,
    };
    envelope.text()
}

/// A payload of our own.
#[must_use]
pub fn raw(value: &serde_json::Value) -> Box<RawValue> {
    // What serde wrote, serde reads.
    RawValue::from_string(value.to_string()).unwrap_or_default()
}
