//! The steps of a study session with their recorded results.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use gangway_relay::study::{Direction, StudyEvent, is_step_of_person};

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Outcome {
    pub(super) ok: bool,
    pub(super) code: Option<String>,
    /// The stage shown afterwards.
    pub(super) stage: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum RecordedAction {
    /// An agent called a tool.
    Call {
        payload: Value,
        /// `None` if it was never answered.
        then: Option<Outcome>,
    },
    /// An agent sent a message.
    Say(Value),
    /// The person did or wrote something.
    Person(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct RecordedStep {
    pub(super) at: Timestamp,
    pub(super) act: RecordedAction,
}

/// Expected answer, index of the call if it is one, request id.
type ExpectedAnswer = (&'static str, Option<usize>, Option<String>);

/// Matches calls with their results, event by event.
#[derive(Default)]
pub(super) struct Recorded {
    parts: Vec<RecordedStep>,
    /// The initial state that the page reported.
    setup: Option<Value>,
    /// Requests without an answer: a call by its index, or a request that is not replayed.
    waiting: VecDeque<ExpectedAnswer>,
}

impl Outcome {
    pub(super) fn of(kind: &str, payload: &Map<String, Value>) -> Self {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let ok = kind == "tool.result" && payload.get("ok") != Some(&Value::Bool(false));
        let code = text(payload.get("code"));
        let stage = payload.get("uiSpec").and_then(|spec| spec.get("stage"));
        Self {
            ok,
            code: code.filter(|_| !ok),
            stage: text(stage),
        }
    }

    pub(super) fn close_info(&self) -> String {
        let what = match (&self.code, self.ok) {
            (_, true) => "ok",
            (Some(code), false) => code,
            (None, false) => "not ok",
        };
        match &self.stage {
            Some(stage) => format!("{what}, {stage}"),
            None => what.to_owned(),
        }
    }

    /// Whether the result is equivalent. The content may differ: others book too.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.ok, &self.code) == (other.ok, &other.code)
    }
}

impl Recorded {
    pub(super) fn take(&mut self, event: StudyEvent) {
        let at = event.timestamp;
        let payload = event.payload;
        let text = |name: &str| {
            payload
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        match (event.direction, event.r#type.as_str()) {
            (Direction::In, "tool.call") => {
                self.waiting
                    .push_back(("tool.result", Some(self.parts.len()), event.id));
                let payload = Value::Object(payload);
                let act = RecordedAction::Call {
                    payload,
                    then: None,
                };
                self.parts.push(RecordedStep { at, act });
            }
            (Direction::In, "snapshot.get") => {
                self.waiting.push_back(("snapshot.state", None, event.id))
            }
            (Direction::In, "session.start") => {
                self.waiting.push_back(("session.started", None, event.id))
            }
            (Direction::In, "session.end") => {
                self.waiting.push_back(("session.ended", None, event.id))
            }
            (Direction::In, "agent.message") => {
                let act = RecordedAction::Say(Value::Object(payload));
                self.parts.push(RecordedStep { at, act });
            }
            (Direction::Out, "user.message") => {
                let act = RecordedAction::Person(format!("said “{}”", text("text")));
                self.parts.push(RecordedStep { at, act });
            }
            (Direction::Out, "state.updated") if is_step_of_person(&payload) => {
                let history = payload.get("messageHistory").and_then(Value::as_array);
                let newest = history
                    .and_then(|h| h.last())
                    .filter(|e| e["type"] == "user");
                let did = newest.and_then(|entry| entry["text"].as_str());
                let act = RecordedAction::Person(format!("did: {}", did.unwrap_or("something")));
                self.parts.push(RecordedStep { at, act });
            }
            // Calls that the relay refused never reached the page.
            (Direction::Internal, "error") if payload.contains_key("of") => {}
            (
                _,
                kind @ ("tool.result" | "snapshot.state" | "session.started" | "session.ended"
                | "error"),
            ) => self.answer(kind, event.reply_to.as_deref(), &payload),
            _ => {}
        }
    }

    /// Answers carry the request id except in foreign logs; pages answer in order.
    fn answer(&mut self, kind: &str, to: Option<&str>, payload: &Map<String, Value>) {
        let fits = |(wanted, _, id): &ExpectedAnswer| match (to, id) {
            (Some(to), Some(id)) => to == id,
            _ => kind == "error" || kind == *wanted,
        };
        if kind == "session.started" && self.setup.is_none() {
            self.setup = payload.get("setup").cloned();
        }
        let Some(place) = self.waiting.iter().position(fits) else {
            return;
        };
        if let Some((_, Some(part), _)) = self.waiting.remove(place)
            && let Some(RecordedAction::Call { then, .. }) =
                self.parts.get_mut(part).map(|p| &mut p.act)
        {
            *then = Some(Outcome::of(kind, payload));
        }
    }

    /// The steps, and the initial state of the page.
    pub(super) fn finish(self) -> (Vec<RecordedStep>, Option<Value>) {
        (self.parts, self.setup)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_call_gets_the_answer_that_was_its_own() {
        let mut recorded = Recorded::default();
        let log = [
            ("in", "session.start", json!({ "studyId": "pilot" })),
            ("out", "session.started", json!({ "setup": { "seed": 3 } })),
            ("in", "snapshot.get", json!({})),
            ("in", "tool.call", json!({ "toolName": "a" })),
            ("in", "tool.call", json!({ "toolName": "b" })),
            ("out", "snapshot.state", json!({})),
            ("out", "error", json!({ "code": "INVALID_PARAMS" })),
            ("out", "user.message", json!({ "text": "hm" })),
            (
                "out",
                "tool.result",
                json!({ "ok": true, "uiSpec": { "stage": "seat" } }),
            ),
            ("in", "tool.call", json!({ "toolName": "c" })),
        ];
        for (n, (direction, kind, payload)) in (1..).zip(log) {
            let line = json!({
                "sessionId": "s-20260213-001", "eventIndex": n, "timestamp": "2026-02-13T10:22:17.123Z",
                "direction": direction, "type": kind, "payload": payload,
            });
            recorded.take(serde_json::from_value(line).unwrap());
        }
        let (parts, setup) = recorded.finish();
        assert_eq!(setup, Some(json!({ "seed": 3 })));
        let lines: Vec<_> = parts
            .into_iter()
            .map(|part| match part.act {
                RecordedAction::Call { payload, then } => {
                    let then = then.map_or("never".into(), |then| then.close_info());
                    format!("{} {then}", payload["toolName"])
                }
                RecordedAction::Say(_) => "said".into(),
                RecordedAction::Person(what) => what,
            })
            .collect();
        assert_eq!(
            lines,
            [
                "\"a\" INVALID_PARAMS",
                "\"b\" ok, seat",
                "said “hm”",
                "\"c\" never"
            ]
        );
    }
}
