//! The messages of the external agent protocol: types per role, and encoding.

use std::collections::BTreeMap;

use axum::extract::ws::Utf8Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};
use ts_rs::TS;

pub const VERSION: &str = "mvp-0.2";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
#[ts(rename = "RelayRole")]
pub enum Role {
    Host,
    Agent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[ts(rename = "RelayCode")]
pub enum Code {
    /// Not a valid message, or not one that this role may send.
    InvalidMessage,
    /// The client has not joined, or there is no page.
    SessionNotActive,
    UnknownTool,
    InvalidParams,
    /// The page shows nothing yet.
    NoActiveSpec,
    ToolExecutionFailed,
}

/// A protocol error, with a message for developers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub code: Code,
    /// What was wrong, and what to do.
    pub message: String,
}

impl Refusal {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

/// Types that agents send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TS)]
#[ts(rename = "RelayFromAgent")]
pub enum FromAgent {
    /// Start a study session.
    #[ts(rename = "session.start")]
    SessionStart,
    /// Read the page's state.
    #[ts(rename = "snapshot.get")]
    SnapshotGet,
    #[ts(rename = "tool.call")]
    ToolCall,
    /// Show a message to the person.
    #[ts(rename = "agent.message")]
    AgentMessage,
    /// Show the agent's status.
    #[ts(rename = "agent.status")]
    AgentStatus,
    /// Reset the page; a study session continues.
    #[ts(rename = "session.reset")]
    SessionReset,
    /// End the study session.
    #[ts(rename = "session.end")]
    SessionEnd,
}

/// Types that pages send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TS)]
#[ts(rename = "RelayFromHost")]
pub enum FromHost {
    #[ts(rename = "session.started")]
    SessionStarted,
    #[ts(rename = "snapshot.state")]
    SnapshotState,
    #[ts(rename = "tool.result")]
    ToolResult,
    #[ts(rename = "state.updated")]
    StateUpdated,
    /// The person wrote a message.
    #[ts(rename = "user.message")]
    UserMessage,
    #[ts(rename = "session.ended")]
    SessionEnded,
    #[ts(rename = "error")]
    Error,
}

impl FromAgent {
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

    /// Whether the page answers it; to other types it may object with an error.
    #[must_use]
    pub fn is_answered(self) -> bool {
        !matches!(self, Self::AgentMessage | Self::AgentStatus)
    }

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

/// An outgoing message.
#[derive(Serialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(rename = "RelayEnvelope", concrete(P = ()))]
pub struct Envelope<'a, P: Serialize> {
    #[ts(type = "RelayVersion")]
    pub v: &'static str,
    pub r#type: &'a str,
    /// Request id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub id: Option<&'a str>,
    /// Id of the request that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reply_to: Option<&'a str>,
    /// Its number in the relay session, to resume after.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub seq: Option<u64>,
    #[ts(type = "Record<string, unknown>")]
    pub payload: P,
}

impl<P: Serialize> Envelope<'_, P> {
    pub fn text(&self) -> Utf8Bytes {
        // Cannot fail: all keys are strings.
        serde_json::to_string(self).unwrap_or_default().into()
    }
}

#[derive(Serialize, TS)]
#[ts(rename = "RelayError")]
pub struct ErrorPayload<'a> {
    pub code: Code,
    pub message: &'a str,
    /// Another page replaced this one, which must not reconnect by itself: the two would replace each other forever.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub replaced: bool,
}

#[derive(Serialize, TS)]
#[ts(rename = "RelayPresence")]
pub struct Presence {
    pub host: bool,
    /// Number of agents.
    pub agents: usize,
    pub names: Vec<String>,
}

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

/// The error for a page that was replaced.
#[must_use]
pub fn replaced_text() -> Utf8Bytes {
    let text = ErrorPayload {
        code: Code::SessionNotActive,
        message: "another page replaced this one",
        replaced: true,
    };
    message_text("error", None, &text)
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

#[must_use]
pub fn raw(value: &Value) -> Box<RawValue> {
    // Cannot fail: the text was written by serde.
    RawValue::from_string(value.to_string()).unwrap_or_default()
}

/// A payload with fields added or replaced.
pub(crate) fn with<const N: usize>(
    payload: &RawValue,
    fields: [(&str, Value); N],
) -> Box<RawValue> {
    let mut object: BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(payload.get()).unwrap_or_default();
    for (name, value) in fields {
        object.insert(name.to_owned(), raw(&value));
    }
    to_raw_value(&object).unwrap_or_default()
}
