//! `gangway relay check --role agent` tells an author what an agent gets wrong, and nothing else.

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::Stdio,
};

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::wire::Wire;
use crate::support::Gangway;

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
        let mut wish = json!({ "role": "agent", "sessionId": "default" });
        if self.flaw != Flaw::ComesBackWithoutSince {
            wish["since"] = json!(self.since);
        }
        self.wire.ask("relay.join", wish).await;
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
            let wish = json!({ "role": "host", "sessionId": "default" });
            self.ask("relay.join", wish).await?;
        }
        let wish = json!({ "role": "agent", "sessionId": "default" });
        self.ask("relay.join", wish).await?;
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

/// The exit code, the checks that found something wrong, and all that was found.
async fn check(flaw: Flaw, more: &[&str]) -> (Option<i32>, Vec<String>, Value) {
    let start = |url| Agent::start(url, flaw);
    let (code, wrong, report, agent) = check_with(more, start).await;
    agent.abort();
    (code, wrong, report)
}

async fn check_with<F: Future<Output = ()> + Send + 'static>(
    more: &[&str],
    agent: impl FnOnce(String) -> F,
) -> (Option<i32>, Vec<String>, Value, JoinHandle<()>) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Gangway::command(folder.path());
    command
        .args([
            "relay",
            "check",
            "ws://127.0.0.1:0/agent/ws",
            "--role",
            "agent",
            "--seconds",
            "1",
            "--json",
        ])
        .args(more)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let url = line.split_whitespace().last().unwrap().to_owned();
    let agent = tokio::spawn(agent(url));
    let done = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        (child.wait().unwrap(), text)
    });
    let (status, text) = done.await.unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let wrong = findings
        .iter()
        .filter(|finding| finding["verdict"] == "wrong");
    let wrong = wrong.map(|finding| finding["check"].as_str().unwrap().to_owned());
    (status.code(), wrong.collect(), report.clone(), agent)
}

#[tokio::test]
async fn an_agent_that_does_everything_right_passes_every_check() {
    let (code, wrong, report) = check(Flaw::Nothing, &[]).await;
    assert_eq!((code, wrong), (Some(0), vec![]), "{report}");
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().all(|f| f["verdict"] == "good"), "{report}");
}

macro_rules! told {
    ($($name:ident: $flaw:ident => $check:literal;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let (code, wrong, report) = check(Flaw::$flaw, &[]).await;
            assert_eq!((code, wrong), (Some(1), vec![$check.to_owned()]), "{report}");
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

/// Books with one of the programs in `examples`, and says whether it did.
async fn example_books(program: &Path, arguments: &[&str]) {
    let mut command = tokio::process::Command::new(program);
    command
        .args(arguments)
        .arg("two seats for a comedy in the back")
        .kill_on_drop(true);
    let (sender, booked) = tokio::sync::oneshot::channel();
    let (code, wrong, report, _) = check_with(&["--no-drop"], |url| async move {
        let url = url.replacen("ws://", "http://", 1);
        command.env("GANGWAY_URL", url.trim_end_matches("/agent/ws"));
        let _ = sender.send(command.output().await.unwrap());
    })
    .await;
    assert_eq!((code, wrong), (Some(0), vec![]), "{report}");
    let said = String::from_utf8(booked.await.unwrap().stdout).unwrap();
    assert!(said.contains("Booked: CHECK-1"), "{said}");
    assert!(
        said.contains(r#""itemId":"m2""#) || said.contains(r#""itemId": "m2""#),
        "{said}"
    );
}

#[tokio::test]
async fn the_agent_in_rust_that_others_start_from_books_and_does_nothing_wrong() {
    let gangway = Path::new(env!("CARGO_BIN_EXE_gangway"));
    let program = gangway.with_file_name("examples").join("agent");
    assert!(
        program.exists(),
        "it is not built: cargo build -p gangway --example agent"
    );
    example_books(&program, &[]).await;
}

#[tokio::test]
async fn the_agent_in_python_that_others_start_from_books_and_does_nothing_wrong() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/python-agent/agent.py"
    );
    example_books(Path::new("python3"), &[file]).await;
}

#[tokio::test]
async fn coming_back_without_since_is_no_more_than_a_note() {
    let (code, _, report) = check(Flaw::ComesBackWithoutSince, &[]).await;
    assert_eq!(code, Some(0), "{report}");
    let all = report["findings"].as_array().unwrap();
    let found = all.iter().find(|f| f["check"] == "reconnects").unwrap();
    assert_eq!(found["verdict"], "open", "{report}");
}

#[tokio::test]
async fn the_connection_is_left_alone_on_request() {
    let (code, _, report) = check(Flaw::DoesNotComeBack, &["--no-drop"]).await;
    assert_eq!(code, Some(0), "{report}");
}
