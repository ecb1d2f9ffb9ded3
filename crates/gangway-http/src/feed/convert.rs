//! Converts core types to wire types.

use gangway_core as core;
use serde_json::Value;

use super::wire::{
    ConsentState, Entry, EntryBody, Outcome, Session, SessionState, Source, ToolState, Usage,
};

impl Session {
    #[must_use]
    pub fn new(id: core::SessionId, profile: core::Profile, running: bool) -> Self {
        Self {
            session_id: id.to_string(),
            title: profile.title,
            cwd: profile.cwd,
            model: profile.model,
            agent: profile.agent,
            state: if running {
                SessionState::Running
            } else {
                SessionState::Idle
            },
            created_at: profile.created_at,
            updated_at: profile.updated_at,
        }
    }
}

impl Entry {
    #[must_use]
    pub fn new(session: core::SessionId, entry: core::conversation::Entry) -> Self {
        use core::conversation::EntryBody as From;
        let line = match entry.line {
            From::User { text, source } => EntryBody::User {
                content: text,
                source: source.into(),
            },
            From::Assistant {
                message,
                text,
                partial,
                streaming,
            } => EntryBody::Assistant {
                message_id: message.to_string(),
                content: text,
                partial,
                streaming,
            },
            From::Tool {
                call,
                tool,
                arguments,
                result,
            } => {
                let (state, result, error) = outcome(result);
                EntryBody::Tool {
                    tool_call_id: call.to_string(),
                    tool,
                    arguments,
                    state,
                    result,
                    error,
                }
            }
            From::Asked {
                question,
                text,
                options,
                answer,
            } => EntryBody::Question {
                question_id: question.to_string(),
                question: text,
                options,
                answer,
            },
            From::App {
                launch,
                app,
                app_event,
            } => EntryBody::App {
                launch_id: launch.to_string(),
                app: app.into(),
                app_event: app_event.into(),
            },
            From::PageCall {
                page,
                call,
                tool,
                arguments,
                by,
                result,
            } => {
                let (state, result, error) = outcome(result);
                EntryBody::PageCall {
                    page_id: page.to_string(),
                    call_id: call,
                    tool,
                    arguments,
                    by: by.into(),
                    state,
                    result,
                    error,
                }
            }
            From::PageMessage { page, text, by } => EntryBody::PageMessage {
                page_id: page.to_string(),
                content: text,
                by,
            },
            From::Notice { text } => EntryBody::Notice { message: text },
            From::Failed {
                code,
                message,
                retryable,
            } => EntryBody::Error {
                code,
                message,
                retryable,
            },
            From::Ended { outcome } => EntryBody::End {
                outcome: outcome.into(),
            },
        };
        let stream_id = core::TurnId {
            session,
            seq: entry.turn,
        }
        .to_string();
        Self {
            seq: entry.seq,
            at: entry.at,
            stream_id,
            hidden: entry.hidden,
            line,
        }
    }
}

fn outcome(result: Option<Result<Value, String>>) -> (ToolState, Option<Value>, Option<String>) {
    match result {
        None => (ToolState::Running, None, None),
        Some(Ok(result)) => (ToolState::Done, Some(result), None),
        Some(Err(error)) => (ToolState::Failed, None, Some(error)),
    }
}

impl From<core::Source> for Source {
    fn from(source: core::Source) -> Self {
        match source {
            core::Source::Person => Self::Person,
            core::Source::Applet { slug } => Self::Applet { slug },
            core::Source::Agent { name } => Self::Agent { name },
            core::Source::Page { origin } => Self::Page { origin },
        }
    }
}

impl From<core::Consent> for ConsentState {
    fn from(consent: core::Consent) -> Self {
        match consent {
            core::Consent::Once => Self::Once,
            core::Consent::Allowed => Self::Allowed,
            core::Consent::Denied => Self::Denied,
            core::Consent::Open => Self::Ask,
        }
    }
}

impl From<core::Outcome> for Outcome {
    fn from(outcome: core::Outcome) -> Self {
        match outcome {
            core::Outcome::Completed => Self::Completed,
            core::Outcome::Stopped => Self::Stopped,
            core::Outcome::Failed => Self::Failed,
            core::Outcome::Interrupted => Self::Interrupted,
        }
    }
}

impl From<core::Usage> for Usage {
    fn from(usage: core::Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
        }
    }
}
