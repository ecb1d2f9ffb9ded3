//! The check of an agent reports exactly what the agent does wrong.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod wire;

use clap::Parser;
use gangway_devtools::relay_check::{AgentCheck, CheckArgs};
use serde_json::{Value, json};
use wire::Wire;

#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    check: CheckArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    Nothing,
    DoesNotJoinFirst,
    JoinsAsHost,
    HasAnotherVersion,
    HasNoId,
    UsesAnIdTwice,
    HasNoReason,
    CallsAnUnknownToolAgain,
    HasWrongParams,
    DoesNotWait,
    SendsWhatPagesSend,
    RepeatsWhatWasRefused,
    GivesUpAfterAnError,
    DoesNotComeBack,
    ComesBackWithoutSince,
    NeverEnds,
    DoesNothing,
}

struct Agent {
    url: String,
    wire: Wire,
    flaw: Flaw,
    since: Option<u64>,
}

fn call(tool: &str, params: Value) -> Value {
    json!({ "toolName": tool, "params": params, "reason": "To get on." })
}

impl Agent {
    async fn start(url: String, flaw: Flaw) {
        let wire = Wire::open(&url).await;
        let mut agent = Self {
            url,
            wire,
            flaw,
            since: None,
        };
        agent.run().await;
    }

    /// Asks; after a lost connection it comes back and gets nothing.
    async fn ask(&mut self, kind: &str, payload: Value) -> Option<Value> {
        let answer = self.wire.ask(kind, payload).await;
        if let Some(answer) = answer {
            self.since = answer["seq"].as_u64().or(self.since);
            return Some(answer);
        }
        if self.flaw == Flaw::DoesNotComeBack {
            return None;
        }
        self.wire = Wire::open(&self.url).await;
        let mut request = json!({ "role": "agent", "sessionId": "default" });
        if self.flaw != Flaw::ComesBackWithoutSince {
            request["since"] = json!(self.since);
        }
        self.wire.ask("relay.join", request).await;
        Some(json!({ "type": "lost", "payload": {} }))
    }

    async fn run(&mut self) -> Option<()> {
        let raw = |fields: Value| {
            let mut message = json!({ "v": "mvp-0.2", "payload": {} });
            for (name, value) in fields.as_object().unwrap() {
                message[name] = value.clone();
            }
            message
        };
        if self.flaw == Flaw::DoesNotJoinFirst {
            self.wire
                .send(&raw(json!({ "type": "snapshot.get", "id": "x" })))
                .await;
        }
        if self.flaw == Flaw::JoinsAsHost {
            let request = json!({ "role": "host", "sessionId": "default" });
            self.ask("relay.join", request).await?;
        }
        let request = json!({ "role": "agent", "sessionId": "default" });
        self.ask("relay.join", request).await?;
        match self.flaw {
            Flaw::HasAnotherVersion => {
                let message = raw(json!({ "v": "1.0", "type": "snapshot.get", "id": "x" }));
                self.wire.send(&message).await;
            }
            Flaw::HasNoId => {
                self.wire
                    .send(&raw(json!({ "type": "snapshot.get" })))
                    .await;
            }
            Flaw::UsesAnIdTwice => {
                for _ in 0..2 {
                    let message = raw(json!({ "type": "snapshot.get", "id": "x" }));
                    self.wire.send(&message).await;
                }
            }
            Flaw::SendsWhatPagesSend => {
                let message = raw(json!({ "type": "state.updated", "id": "x" }));
                self.wire.send(&message).await;
            }
            Flaw::DoesNothing => std::future::pending().await,
            _ => {}
        }
        self.ask("snapshot.get", json!({})).await?;
        match self.flaw {
            Flaw::HasNoReason => {
                let silent = json!({ "toolName": "next", "params": {} });
                self.ask("tool.call", silent).await?;
            }
            Flaw::CallsAnUnknownToolAgain => {
                for _ in 0..2 {
                    self.ask("tool.call", call("book", json!({}))).await?;
                }
            }
            Flaw::HasWrongParams => {
                self.ask("tool.call", call("select", json!({ "itemId": 1 })))
                    .await?;
            }
            Flaw::RepeatsWhatWasRefused => {
                for _ in 0..3 {
                    self.ask("tool.call", call("select", json!({ "itemId": "m9" })))
                        .await?;
                }
            }
            Flaw::DoesNotWait => {
                for id in ["x", "y"] {
                    let select = call("select", json!({ "itemId": "m1" }));
                    let message = raw(json!({ "type": "tool.call", "id": id, "payload": select }));
                    self.wire.send(&message).await;
                }
            }
            _ => {}
        }
        self.book().await
    }

    async fn book(&mut self) -> Option<()> {
        for _ in 0..40 {
            let seen = self.ask("snapshot.get", json!({})).await?;
            let spec = &seen["payload"]["uiSpec"];
            if spec["state"]["booking"]["status"] == "booked" {
                break;
            }
            let calls = match spec["stage"].as_str() {
                Some("movie") => vec![call("select", json!({ "itemId": "m1" }))],
                Some("seat") if spec["state"]["selectedList"] == json!([]) => {
                    vec![call("select", json!({ "itemId": "B2" }))]
                }
                Some("ticket") => vec![call(
                    "setQuantity",
                    json!({ "typeId": "adult", "quantity": 1 }),
                )],
                Some(_) => vec![],
                None => continue,
            };
            for call in calls.into_iter().chain([call("next", json!({}))]) {
                let answer = self.ask("tool.call", call).await?;
                if answer["type"] == "error" && self.flaw == Flaw::GivesUpAfterAnError {
                    return None;
                }
                if answer["type"] != "tool.result" {
                    break;
                }
            }
        }
        let thanks = json!({ "text": "It is booked." });
        let id = self.wire.new_id();
        let message =
            json!({ "v": "mvp-0.2", "type": "agent.message", "id": id, "payload": thanks });
        self.wire.send(&message).await;
        while self.flaw == Flaw::NeverEnds {
            self.ask("tool.call", call("next", json!({}))).await?;
            tokio::task::yield_now().await;
        }
        None
    }
}

/// Whether the check passed, what was wrong, and all that was found.
async fn check(flaw: Flaw, more: &[&str]) -> (bool, Vec<String>, Value) {
    let arguments = [
        "check",
        "ws://127.0.0.1:0/agent/ws",
        "--role",
        "agent",
        "--seconds",
        "1",
    ];
    let args = Arguments::parse_from(arguments.iter().chain(more)).check;
    let check = AgentCheck::listen(&args).await.unwrap();
    let agent = tokio::spawn(Agent::start(check.url().to_owned(), flaw));
    let report = check.run().await.unwrap();
    agent.abort();
    let found = serde_json::to_value(&report).unwrap();
    let findings = found["findings"].as_array().unwrap();
    let wrong = findings
        .iter()
        .filter(|finding| finding["verdict"] == "wrong");
    let wrong = wrong.map(|finding| finding["check"].as_str().unwrap().to_owned());
    (report.passed(), wrong.collect(), found.clone())
}

#[tokio::test]
async fn an_agent_that_does_everything_right_passes_every_check() {
    let (passed, wrong, report) = check(Flaw::Nothing, &[]).await;
    assert_eq!((passed, wrong), (true, vec![]), "{report}");
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().all(|f| f["verdict"] == "good"), "{report}");
}

macro_rules! told {
    ($($name:ident: $flaw:ident => $check:literal;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let (passed, wrong, report) = check(Flaw::$flaw, &[]).await;
            assert_eq!((passed, wrong), (false, vec![$check.to_owned()]), "{report}");
        }
    )*};
}

told! {
    an_agent_that_does_not_join_first_is_told: DoesNotJoinFirst => "join";
    an_agent_that_joins_as_a_page_is_told: JoinsAsHost => "join";
    an_agent_of_another_version_is_told: HasAnotherVersion => "envelope";
    an_agent_without_ids_is_told: HasNoId => "id";
    an_agent_that_uses_an_id_twice_is_told: UsesAnIdTwice => "id";
    an_agent_without_reasons_is_told: HasNoReason => "reason";
    an_agent_that_calls_an_unknown_tool_again_is_told: CallsAnUnknownToolAgain => "tools";
    an_agent_with_wrong_params_is_told: HasWrongParams => "params";
    an_agent_that_does_not_wait_is_told: DoesNotWait => "waits";
    an_agent_that_speaks_like_a_page_is_told: SendsWhatPagesSend => "role";
    an_agent_that_repeats_what_was_refused_is_told: RepeatsWhatWasRefused => "refusals";
    an_agent_that_gives_up_after_an_error_is_told: GivesUpAfterAnError => "errors";
    an_agent_that_does_not_come_back_is_told: DoesNotComeBack => "reconnects";
    an_agent_that_never_ends_is_told: NeverEnds => "ends";
    an_agent_that_does_nothing_is_told: DoesNothing => "ends";
}

#[tokio::test]
async fn coming_back_without_since_is_no_more_than_a_note() {
    let (passed, _, report) = check(Flaw::ComesBackWithoutSince, &[]).await;
    assert!(passed, "{report}");
    let all = report["findings"].as_array().unwrap();
    let found = all.iter().find(|f| f["check"] == "reconnects").unwrap();
    assert_eq!(found["verdict"], "open", "{report}");
}

#[tokio::test]
async fn the_connection_is_left_alone_on_request() {
    let (passed, _, report) = check(Flaw::DoesNotComeBack, &["--no-drop"]).await;
    assert!(passed, "{report}");
}
