//! A page with a lamp, which does one thing wrong on request.

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::wire::Wire;

/// What it does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    Nothing,
    LeaksBackendData,
    HasNoToolSchema,
    HasABadSchema,
    TakesUnknownTools,
    NamesTheWrongCode,
    TakesWrongParams,
    ShowsTheStateBefore,
    TellsNoUpdates,
    UpdatesGrow,
    DoesNotReset,
    DoesNotAnswer,
    SaysItIsNotOk,
    /// Not against the protocol: its lamp is broken.
    IsBroken,
}

#[derive(Default)]
struct Lamp {
    on: bool,
    switched: u64,
    history: Vec<Value>,
}

/// A page that has joined; it leaves when dropped.
pub struct Page(JoinHandle<()>);

impl Drop for Page {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Page {
    pub async fn open(url: &str, session: &str, flaw: Flaw) -> Self {
        let mut wire = Wire::join(url, "host", session).await;
        Self(tokio::spawn(async move {
            let mut lamp = Lamp::default();
            while let Some(message) = wire.receive().await {
                let Some(id) = message["id"].as_str() else {
                    continue;
                };
                let (kind, payload, updates) = lamp.answer(&message, flaw);
                if kind.is_empty() {
                    continue;
                }
                if flaw == Flaw::DoesNotAnswer && kind == "snapshot.state" {
                    continue;
                }
                let reply =
                    json!({ "v": "mvp-0.2", "type": kind, "replyTo": id, "payload": payload });
                wire.send(&reply).await;
                if updates && flaw != Flaw::TellsNoUpdates {
                    let mut state = lamp.state(flaw);
                    state["source"] = json!(if kind == "tool.result" {
                        "agent"
                    } else {
                        "stage"
                    });
                    wire.send(
                        &json!({ "v": "mvp-0.2", "type": "state.updated", "payload": state }),
                    )
                    .await;
                }
            }
        }))
    }
}

impl Lamp {
    fn state(&self, flaw: Flaw) -> Value {
        let stored = if flaw == Flaw::UpdatesGrow {
            10_000
        } else {
            10
        };
        let newest = self.history.len().saturating_sub(stored);
        let mut spec = json!({ "stage": if self.on { "light" } else { "dark" }, "state": { "on": self.on }, "switched": self.switched });
        if flaw == Flaw::LeaksBackendData {
            spec["items"] = json!([{ "id": "a", "backendData": { "secret": 1 } }]);
        }
        json!({ "uiSpec": spec, "messageHistory": self.history[newest..] })
    }

    fn answer(&mut self, message: &Value, flaw: Flaw) -> (&'static str, Value, bool) {
        let payload = &message["payload"];
        match message["type"].as_str().unwrap() {
            "snapshot.get" => {
                let mut state = self.state(flaw);
                state["sessionId"] = Value::Null;
                if flaw != Flaw::HasNoToolSchema {
                    let kind = if flaw == Flaw::HasABadSchema {
                        "text"
                    } else {
                        "boolean"
                    };
                    state["toolSchema"] = json!([{ "name": "switch", "description": "Switches the lamp.",
                        "parameters": { "on": { "type": kind, "description": "Whether it burns." } } }]);
                }
                ("snapshot.state", state, false)
            }
            "tool.call" => self.call(payload, flaw),
            "agent.message" => {
                self.history
                    .push(json!({ "id": "m", "type": "agent", "text": payload["text"] }));
                ("", Value::Null, false)
            }
            "session.start" => {
                *self = Self::default();
                (
                    "session.started",
                    json!({ "sessionId": payload["sessionId"], "setup": { "bulb": 1 } }),
                    true,
                )
            }
            "session.end" => {
                if flaw != Flaw::DoesNotReset {
                    *self = Self::default();
                }
                ("session.ended", json!({ "stateReset": true }), true)
            }
            other => panic!("the relay sent {other}"),
        }
    }

    fn call(&mut self, call: &Value, flaw: Flaw) -> (&'static str, Value, bool) {
        let refused = |code: &str, message: &str| {
            ("error", json!({ "code": code, "message": message }), false)
        };
        let before = self.state(flaw);
        if call["toolName"] != "switch" && flaw != Flaw::TakesUnknownTools {
            let code = match flaw {
                Flaw::NamesTheWrongCode => "INVALID_PARAMS",
                _ => "UNKNOWN_TOOL",
            };
            return refused(code, "there is only switch");
        }
        let on = call["params"]["on"].as_bool();
        if on.is_none() && call["toolName"] == "switch" && flaw != Flaw::TakesWrongParams {
            return refused("INVALID_PARAMS", "on must be a boolean");
        }
        if flaw == Flaw::IsBroken {
            return refused("TOOL_EXECUTION_FAILED", "the lamp is broken");
        }
        self.on = on.unwrap_or(true);
        self.switched += 1;
        self.history.push(json!({ "id": format!("m{}", self.switched), "type": "agent", "text": "Switched the lamp", "tool": "switch", "reason": call["reason"] }));
        let mut result = match flaw {
            Flaw::ShowsTheStateBefore => before,
            _ => self.state(flaw),
        };
        result["ok"] = json!(flaw != Flaw::SaysItIsNotOk);
        result["toolName"] = call["toolName"].clone();
        ("tool.result", result, true)
    }
}
