//! Converts an event of core to a feed frame.

use gangway_core::{AskEntry, Event, Logged, SessionId, TurnId};

use super::frame::{EventBody, EventFrame};

impl EventFrame {
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
            Event::MessageStarted {
                prompt,
                source,
                shown,
            } => EventBody::UserMessage {
                show_in_chat: shown,
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
                ..
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
            Event::StateChanged {
                applet,
                version,
                patch,
                source,
            } => EventBody::State {
                applet: applet.into(),
                version,
                patch,
                source: source.into(),
            },
            Event::ConsentRequested { applet, prompt } => EventBody::ConsentRequested {
                applet: applet.into(),
                prompt,
            },
            Event::ConsentChanged { applet, consent } => EventBody::ConsentChanged {
                applet: applet.into(),
                speak: consent.into(),
            },
            Event::OpenAsked { applet } => EventBody::AppletOpen {
                applet: applet.into(),
            },
            Event::ReloadAsked { applet } => EventBody::Reload {
                applet: applet.map(Into::into),
            },
            Event::App {
                launch,
                app,
                app_event,
            } => EventBody::App {
                launch_id: launch.to_string(),
                app: app.into(),
                app_event: app_event.into(),
            },
            Event::Page {
                page,
                page_kind,
                name,
                page_event,
            } => EventBody::Page {
                page_id: page.to_string(),
                page_kind: page_kind.into(),
                name,
                page_event: page_event.into(),
            },
            Event::Ask { ask, entry } => match entry {
                AskEntry::Opened { asker, request } => EventBody::AskOpened {
                    ask_id: ask,
                    asker: asker.into(),
                    request: request.into(),
                },
                AskEntry::Closed { outcome, by } => EventBody::AskClosed {
                    ask_id: ask,
                    outcome: outcome.into(),
                    by: by.map(Into::into),
                },
            },
            Event::Notice { turn, text } => EventBody::Notice {
                stream_id: stream(turn),
                message: text,
            },
            Event::ContextUsed { turn, used, window } => EventBody::Context {
                stream_id: stream(turn),
                used,
                window,
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
                ..
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
