//! What was done in a study session, with what came of it then.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use gangway_relay::study::{Direction, StudyEvent, is_step_of_person};

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Outcome {
    pub(super) ok: bool,
    /// The code of the error.
    pub(super) code: Option<String>,
    /// The stage that was shown then.
    pub(super) stage: Option<String>,
}

/// Something that was done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Act {
    /// An agent used a tool.
    Call {
        payload: Value,
        /// Nothing where it was never answered.
        then: Option<Outcome>,
    },
    /// An agent said something.
    Say(Value),
    /// The person did or said something.
    Person(String),
}

/// When it was done.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub(super) at: Timestamp,
    pub(super) act: Act,
}

/// What would answer it, its place if it is a call, and its name.
type Waiting = (&'static str, Option<usize>, Option<String>);

/// Puts calls and their answers together, event by event.
#[derive(Default)]
pub(super) struct Recorded {
    parts: Vec<Part>,
    /// What the page began with, as it said itself.
    setup: Option<Value>,
    /// What waits for an answer: a call by its place, or something that is not done once more.
    waiting: VecDeque<Waiting>,
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

    /// In words.
    pub(super) fn words(&self) -> String {
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

    /// Whether it came out the same way. What is shown may differ: others book too.
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
                let act = Act::Call {
                    payload,
                    then: None,
                };
                self.parts.push(Part { at, act });
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
                let act = Act::Say(Value::Object(payload));
                self.parts.push(Part { at, act });
            }
            (Direction::Out, "user.message") => {
                let act = Act::Person(format!("said “{}”", text("text")));
                self.parts.push(Part { at, act });
            }
            (Direction::Out, "state.updated") if is_step_of_person(&payload) => {
                let history = payload.get("messageHistory").and_then(Value::as_array);
                let newest = history
                    .and_then(|h| h.last())
                    .filter(|e| e["type"] == "user");
                let did = newest.and_then(|entry| entry["text"].as_str());
                let act = Act::Person(format!("did: {}", did.unwrap_or("something")));
                self.parts.push(Part { at, act });
            }
            // What the relay let nobody do, the page was never asked.
            (Direction::Internal, "error") if payload.contains_key("of") => {}
            (
                _,
                kind @ ("tool.result" | "snapshot.state" | "session.started" | "session.ended"
                | "error"),
            ) => self.answer(kind, event.reply_to.as_deref(), &payload),
            _ => {}
        }
    }

    /// What was asked is named, except in logs from elsewhere; pages answer one question after the other.
    fn answer(&mut self, kind: &str, to: Option<&str>, payload: &Map<String, Value>) {
        let fits = |(wanted, _, id): &Waiting| match (to, id) {
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
            && let Some(Act::Call { then, .. }) = self.parts.get_mut(part).map(|p| &mut p.act)
        {
            *then = Some(Outcome::of(kind, payload));
        }
    }

    /// What was done, and what the page began with.
    pub(super) fn finish(self) -> (Vec<Part>, Option<Value>) {
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
        let told: Vec<_> = parts
            .into_iter()
            .map(|part| match part.act {
                Act::Call { payload, then } => {
                    let then = then.map_or("never".into(), |then| then.words());
                    format!("{} {then}", payload["toolName"])
                }
                Act::Say(_) => "said".into(),
                Act::Person(what) => what,
            })
            .collect();
        assert_eq!(
            told,
            [
                "\"a\" INVALID_PARAMS",
                "\"b\" ok, seat",
                "said “hm”",
                "\"c\" never"
            ]
        );
    }
}
