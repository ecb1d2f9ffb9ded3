//! The frames of a session's feed: one for each event, the same on SSE and on WebSocket.

use gangway_core::{Event, Logged, SessionId, TurnId};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use ts_rs::TS;
use utoipa::ToSchema;

use super::wire::{Outcome, Snapshot, Source, Usage};

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
        /// `slow`, `deleted`, `shutdown`, `storage` or `revoked`.
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
    /// Something the person should know about the turn.
    #[serde(rename = "session.notice")]
    Notice {
        /// The turn.
        stream_id: String,
        /// What.
        message: String,
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

impl EventFrame {
    /// An event of this session on the wire.
    #[must_use]
    pub fn new(session: SessionId, logged: &Logged) -> Self {
        let stream = |seq: u64| TurnId { session, seq }.to_string();
        let event = match logged.event.clone() {
            Event::Created { profile: p } => EventBody::Created {
                cwd: p.cwd,
                title: p.title,
                model: p.model,
                agent: p.agent,
            },
            Event::Changed { profile: p } => EventBody::Changed {
                title: p.title,
                model: p.model,
                agent: p.agent,
            },
            Event::MessageStarted { prompt, source } => EventBody::UserMessage {
                stream_id: stream(logged.seq),
                prompt,
                source: source.into(),
            },
            Event::TurnStarted { turn, agent, model } => EventBody::TurnStart {
                stream_id: stream(turn),
                agent,
                model,
            },
            Event::Delta {
                turn,
                message,
                text,
            } => EventBody::MessageDelta {
                stream_id: stream(turn),
                message_id: message.to_string(),
                delta: text,
            },
            Event::Message {
                turn,
                message,
                text,
                partial,
                replaces,
            } => {
                let (stream_id, message_id) = (stream(turn), message.to_string());
                EventBody::Message {
                    stream_id,
                    message_id,
                    content: text,
                    partial,
                    replaces,
                }
            }
            Event::ToolCall {
                turn,
                call,
                tool,
                arguments,
            } => EventBody::ToolStart {
                stream_id: stream(turn),
                tool_call_id: call.to_string(),
                tool,
                arguments,
            },
            Event::ToolResult {
                turn,
                call,
                tool,
                result,
            } => {
                let (stream_id, tool_call_id, success) =
                    (stream(turn), call.to_string(), result.is_ok());
                let error = result.as_ref().err().cloned();
                EventBody::ToolComplete {
                    stream_id,
                    tool_call_id,
                    tool,
                    success,
                    result: result.ok(),
                    error,
                }
            }
            Event::Question {
                turn,
                question,
                text,
                options,
            } => EventBody::Question {
                stream_id: stream(turn),
                question_id: question.to_string(),
                question: text,
                options,
            },
            Event::Answer {
                turn,
                question,
                text,
            } => EventBody::Answer {
                stream_id: stream(turn),
                question_id: question.to_string(),
                answer: text,
            },
            Event::Notice { turn, text } => EventBody::Notice {
                stream_id: stream(turn),
                message: text,
            },
            Event::Failed {
                turn,
                code,
                message,
                retryable,
            } => EventBody::Error {
                stream_id: stream(turn),
                code,
                message,
                retryable,
            },
            Event::TurnEnded {
                turn,
                outcome,
                usage,
                idle,
            } => EventBody::Done {
                stream_id: stream(turn),
                outcome: outcome.into(),
                usage: usage.map(Into::into),
                idle,
            },
        };
        Self {
            seq: logged.seq,
            at: logged.at,
            event,
        }
    }
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
            EventBody::Notice { .. } => "session.notice",
            EventBody::Error { .. } => "session.error",
            EventBody::Done { .. } => "done",
        }
    }
}
