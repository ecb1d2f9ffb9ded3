//! Converts the events of a turn in the session's log for pages.

use gangway_core::{Citation, Event, MessageId, Outcome};
use serde_json::{Value, json};

use crate::{
    SiteError,
    error::{model_message, page_code, tool_message},
};

/// The method of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// A prompt: tokens, then the end.
    Text,
    /// A task: all steps.
    Run,
}

/// A converted event.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ConvertedEvent {
    /// The event, if it is visible to pages.
    pub(crate) event: Option<Value>,
    /// The result of the call, if this was the last event.
    pub(crate) end: Option<Result<(), SiteError>>,
}

impl ConvertedEvent {
    fn event(event: Value) -> Option<Self> {
        Some(Self {
            event: Some(event),
            end: None,
        })
    }
}

/// Converts the events of one turn.
pub(crate) struct Reader {
    kind: CallKind,
    /// The open message, and how many bytes of it were sent.
    open: Option<(MessageId, usize)>,
    /// The last message after the last tool call.
    output: String,
}

impl Reader {
    pub(crate) fn new(kind: CallKind) -> Self {
        Self {
            kind,
            open: None,
            output: String::new(),
        }
    }

    /// Converts an event of the turn.
    pub(crate) fn read(&mut self, event: &Event) -> Option<ConvertedEvent> {
        match event {
            Event::Delta { message, text, .. } => {
                self.passed_on(message, text.len());
                ConvertedEvent::event(token(text))
            }
            Event::Message { message, text, .. } => {
                self.output.clone_from(text);
                // A slow reader finds the message in place of its deltas.
                let rest = text.get(self.passed_on(message, 0)..).unwrap_or_default();
                (!rest.is_empty()).then(|| ConvertedEvent::event(token(rest)))?
            }
            Event::Failed { code, message, .. } => Some(self.failed(code, message)),
            Event::TurnEnded {
                outcome, citations, ..
            } => Some(self.ended(*outcome, citations)),
            Event::Notice { text, .. } if self.kind == CallKind::Run => {
                ConvertedEvent::event(json!({ "type": "status", "message": text }))
            }
            Event::ToolCall {
                tool, arguments, ..
            } => {
                self.output.clear();
                let call = json!({ "type": "tool_call", "tool": tool, "args": arguments });
                (self.kind == CallKind::Run).then(|| ConvertedEvent::event(call))?
            }
            Event::ToolResult {
                tool, result, code, ..
            } => {
                self.output.clear();
                let event = tool_result(tool, result, code.as_deref());
                (self.kind == CallKind::Run).then(|| ConvertedEvent::event(event))?
            }
            _ => None,
        }
    }

    /// How much of a message has been sent; adds this much.
    fn passed_on(&mut self, message: &MessageId, more: usize) -> usize {
        let before = match &self.open {
            Some((open, bytes)) if open == message => *bytes,
            _ => 0,
        };
        self.open = Some((message.clone(), before + more));
        before
    }

    fn failed(&self, code: &str, message: &str) -> ConvertedEvent {
        let code = page_code(code);
        let error = SiteError::new(code, model_message(code, message));
        match self.kind {
            CallKind::Text => ConvertedEvent {
                event: None,
                end: Some(Err(error)),
            },
            CallKind::Run => ConvertedEvent {
                event: Some(json!({ "type": "error", "error": error })),
                end: Some(Ok(())),
            },
        }
    }

    fn ended(&self, outcome: Outcome, citations: &[Citation]) -> ConvertedEvent {
        if outcome != Outcome::Completed {
            let stopped = SiteError::aborted("the user or another page stopped this");
            return ConvertedEvent {
                event: None,
                end: Some(Err(stopped)),
            };
        }
        let event = match self.kind {
            CallKind::Text => json!({ "type": "done" }),
            CallKind::Run => {
                let mut last = json!({ "type": "final", "output": self.output });
                let cited = citations.iter().map(
                    |one| json!({ "source": "tool", "ref": one.reference, "excerpt": one.excerpt }),
                );
                let cited: Vec<_> = cited.collect();
                if !cited.is_empty() {
                    last["citations"] = Value::Array(cited);
                }
                last
            }
        };
        ConvertedEvent {
            event: Some(event),
            end: Some(Ok(())),
        }
    }
}

fn token(text: &str) -> Value {
    json!({ "type": "token", "token": text })
}

fn tool_result(tool: &str, result: &Result<Value, String>, code: Option<&str>) -> Value {
    let shown = result.as_ref().unwrap_or(&Value::Null);
    let mut event = json!({ "type": "tool_result", "tool": tool, "result": shown });
    if let Err(message) = result {
        let code = code.unwrap_or("ERR_TOOL_FAILED");
        let message = tool_message(code, message);
        event["error"] = json!({ "code": code, "message": message });
    }
    event
}

#[cfg(test)]
mod tests {
    use gangway_core::CallId;

    use super::*;

    const TURN: u64 = 3;

    fn delta(n: u32, text: &str) -> Event {
        Event::Delta {
            turn: TURN,
            message: MessageId::nth(TURN, n),
            text: text.to_owned(),
        }
    }

    fn message(n: u32, text: &str) -> Event {
        Event::Message {
            turn: TURN,
            message: MessageId::nth(TURN, n),
            text: text.to_owned(),
            partial: false,
            replaces: None,
        }
    }

    fn ended(outcome: Outcome) -> Event {
        Event::TurnEnded {
            turn: TURN,
            outcome,
            usage: None,
            idle: true,
            citations: Vec::new(),
        }
    }

    fn failed(code: &str) -> Event {
        Event::Failed {
            turn: TURN,
            code: code.to_owned(),
            message: "http://10.0.0.7 says no".to_owned(),
            retryable: true,
        }
    }

    fn tokens(events: &[Event]) -> Vec<String> {
        let mut reader = Reader::new(CallKind::Text);
        let steps = events.iter().filter_map(|event| reader.read(event));
        let tokens = steps.filter_map(|step| Some(step.event?["token"].as_str()?.to_owned()));
        tokens.collect()
    }

    #[test]
    fn a_message_stands_for_the_deltas_that_were_not_read() {
        let whole = [
            delta(1, "Ahoy"),
            delta(1, " there"),
            message(1, "Ahoy there"),
        ];
        assert_eq!(tokens(&whole), ["Ahoy", " there"]);
        let gap = [delta(1, "Ahoy"), message(1, "Ahoy there")];
        assert_eq!(tokens(&gap), ["Ahoy", " there"]);
        let none = [delta(1, "Ahoy"), message(1, "Ahoy"), message(2, "Again")];
        assert_eq!(tokens(&none), ["Ahoy", "Again"]);
    }

    #[test]
    fn the_output_of_a_run_is_the_last_message_after_the_last_tool() {
        let mut reader = Reader::new(CallKind::Run);
        let call = CallId::nth(TURN, 1);
        let called = Event::ToolCall {
            turn: TURN,
            call: call.clone(),
            tool: "a/b".to_owned(),
            arguments: json!({}),
        };
        let unavailable = Event::ToolResult {
            turn: TURN,
            call,
            tool: "a/b".to_owned(),
            result: Err("cannot start /usr/bin/b".to_owned()),
            code: Some("ERR_SERVER_UNAVAILABLE".to_owned()),
        };
        reader.read(&message(1, "Let me see."));
        assert!(reader.read(&called).is_some());
        let result = reader.read(&unavailable).unwrap().event.unwrap();
        assert_eq!(result["error"]["code"], "ERR_SERVER_UNAVAILABLE");
        assert!(!result.to_string().contains("/usr/bin"), "{result}");
        let last = reader.read(&ended(Outcome::Completed)).unwrap();
        assert_eq!(last.end, Some(Ok(())));
        let silent = json!({ "type": "final", "output": "" });
        assert_eq!(last.event, Some(silent));
        reader.read(&message(2, "Nothing."));
        let last = reader.read(&ended(Outcome::Completed)).unwrap();
        assert_eq!(last.event.unwrap()["output"], "Nothing.");
    }

    #[test]
    fn a_failure_has_the_code_that_pages_know_and_no_address() {
        for (code, known) in [
            ("rate_limited", "ERR_RATE_LIMITED"),
            ("budget_exceeded", "ERR_BUDGET_EXCEEDED"),
            ("server_unavailable", "ERR_SERVER_UNAVAILABLE"),
            ("timeout", "ERR_TIMEOUT"),
            ("no_model", "ERR_MODEL_FAILED"),
            ("storage_full", "ERR_INTERNAL"),
        ] {
            let step = Reader::new(CallKind::Text).read(&failed(code)).unwrap();
            let error = step.end.unwrap().unwrap_err();
            assert_eq!(error.code, known);
            // The message about a page's own budget is ours.
            assert!(known == "ERR_BUDGET_EXCEEDED" || !error.message.contains("10.0.0.7"));
            let step = Reader::new(CallKind::Run).read(&failed(code)).unwrap();
            assert_eq!(step.event.unwrap()["error"]["code"], known);
            assert_eq!(step.end, Some(Ok(())));
        }
        let stopped = Reader::new(CallKind::Run).read(&ended(Outcome::Stopped));
        let error = stopped.unwrap().end.unwrap().unwrap_err();
        assert_eq!(error.code, "ERR_ABORTED");
    }
}
