//! Checks a page through a relay: its snapshots, errors and updates.

mod calls;

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    CheckArgs,
    params::{has_key, schema_problems, wrong_params},
    report::Report,
};
use crate::relay_client::{Wire, error_text};

/// Shown to the person at the page.
const REASON: &str = "A check of this page.";

const NO_TOOL: &str = "gangway-check-no-such-tool";

struct Check {
    wire: Wire,
    timeout: Duration,
    report: Report,
    leaks: Vec<String>,
}

pub(super) async fn check(
    args: &CheckArgs,
    key: Option<&str>,
    timeout: Duration,
) -> anyhow::Result<Report> {
    let mut wire = Wire::open(&args.url, key).await?;
    let session = args.session.as_str();
    let joined = wire.join(session, args.token.as_deref(), timeout).await?;
    anyhow::ensure!(
        joined["host"] != false,
        "no page has joined {session}; open one and try again"
    );
    let mut check = Check {
        wire,
        timeout,
        report: Report::default(),
        leaks: Vec::new(),
    };
    check.run(args).await?;
    Ok(check.report)
}

impl Check {
    async fn run(&mut self, args: &CheckArgs) -> anyhow::Result<()> {
        let Some(first) = self.snapshot("snapshot").await? else {
            return Ok(());
        };
        self.surfaces(&first);
        let started = self.start().await?;
        let begun = self.snapshot("beginning").await?.unwrap_or(first);
        self.replies().await?;
        self.refusals(&begun["toolSchema"]).await?;
        self.message().await?;
        match self.working_call(args, &begun).await? {
            Some(call) => {
                self.result(&call).await?;
                self.growth(&call).await?;
            }
            None => self.report.open(
                "result",
                "no successful call could be guessed; give one with --call NAME=PARAMS",
            ),
        }
        if let Some(study) = started {
            self.end(&study, &begun).await?;
        }
        let leaks = self.leaks.first().map(|kind| {
            format!(
                "a {kind} contains the key backendData, which must not leave the page, at any depth"
            )
        });
        let good = "no message contains the key backendData";
        self.report.judge("backendData", good, leaks);
        Ok(())
    }

    /// Sends a request, and scans the answer for keys that must not be sent.
    async fn ask(&mut self, kind: &str, payload: Value) -> anyhow::Result<Option<Value>> {
        let id = self.wire.send(kind, payload).await?;
        let fits = |message: &Value| message["replyTo"] == id.as_str();
        let answer = self.wire.wait(self.timeout, fits).await?;
        Ok(answer.map(|(message, _)| self.seen(message)))
    }

    fn seen(&mut self, message: Value) -> Value {
        if has_key(&message["payload"], "backendData") {
            let kind = message["type"].as_str().unwrap_or("message");
            self.leaks.push(kind.to_owned());
        }
        message
    }

    fn silent(&self, what: &str) -> String {
        format!(
            "{what} was not answered within {} seconds; every request must be answered, with its id as replyTo",
            self.timeout.as_secs()
        )
    }

    async fn snapshot(&mut self, check: &'static str) -> anyhow::Result<Option<Value>> {
        let answer = self.ask("snapshot.get", json!({})).await?;
        let problem = match answer {
            Some(answer) if answer["type"] == "snapshot.state" => {
                return Ok(Some(answer["payload"].clone()));
            }
            Some(answer) if answer["type"] == "error" => {
                format!(
                    "snapshot.get failed with {}",
                    error_text(&answer["payload"])
                )
            }
            Some(answer) => format!(
                "snapshot.get was answered with {}, not with snapshot.state",
                answer["type"]
            ),
            None => self.silent("snapshot.get"),
        };
        self.report.wrong(check, problem);
        Ok(None)
    }

    fn surfaces(&mut self, snapshot: &Value) {
        let missing = [
            ("uiSpec", snapshot["uiSpec"].is_object(), "an object"),
            (
                "messageHistory",
                snapshot["messageHistory"].is_array(),
                "an array",
            ),
            ("toolSchema", snapshot["toolSchema"].is_array(), "an array"),
        ];
        let missing = missing.iter().find(|(_, there, _)| !there);
        let problem = missing.map(|(name, _, what)| {
            format!(
                "{name} of snapshot.state must be {what}, but is {}",
                short(&snapshot[*name])
            )
        });
        let good = "snapshot.state has uiSpec, messageHistory and toolSchema";
        self.report.judge("snapshot", good, problem);
        let problems = schema_problems(&snapshot["toolSchema"]);
        let problem = (!problems.is_empty()).then(|| problems.join("; "));
        let count = snapshot["toolSchema"].as_array().map_or(0, Vec::len);
        let good = format!("tools: {count}, each with name, description and parameters");
        self.report.judge("toolSchema", &good, problem);
    }

    /// Two concurrent requests: each gets its own answer.
    async fn replies(&mut self) -> anyhow::Result<()> {
        let call = json!({ "toolName": NO_TOOL, "params": {}, "reason": REASON });
        let look = self.wire.send("snapshot.get", json!({})).await?;
        let call = self.wire.send("tool.call", call).await?;
        let mut problem = None;
        for (id, own) in [(look, true), (call, false)] {
            let fits = |message: &Value| message["replyTo"] == id.as_str();
            let answer = self.wire.wait(self.timeout, fits).await?;
            match answer.map(|(message, _)| message["type"] == "snapshot.state") {
                None => problem = Some(self.silent("one of two concurrent requests")),
                Some(shows) if shows != own => {
                    let text = "of two concurrent requests, one got the answer of the other; replyTo must be the id of the request";
                    problem = Some(text.to_owned());
                }
                Some(_) => {}
            }
        }
        let good = "two concurrent requests each get their own answer";
        self.report.judge("replyTo", good, problem);
        Ok(())
    }

    async fn refusals(&mut self, schema: &Value) -> anyhow::Result<()> {
        let unknown = json!({ "toolName": NO_TOOL, "params": {}, "reason": REASON });
        self.refused(
            "unknownTool",
            unknown,
            "a tool that does not exist",
            "UNKNOWN_TOOL",
        )
        .await?;
        let tools = schema.as_array().map_or(&[][..], Vec::as_slice);
        let Some(any) = tools.first().and_then(|tool| tool["name"].as_str()) else {
            self.report.open("reason", "the page has no tools");
            return Ok(());
        };
        let silent = json!({ "toolName": any, "params": {} });
        self.refused(
            "reason",
            silent,
            "a call without a reason",
            "INVALID_PARAMS",
        )
        .await?;
        let wrong = tools.iter().find_map(|tool| {
            let (what, params) = wrong_params(&tool["parameters"])?;
            Some((tool["name"].as_str()?, what, params))
        });
        let Some((name, what, params)) = wrong else {
            self.report
                .open("params", "no tool of this page takes params");
            return Ok(());
        };
        let call = json!({ "toolName": name, "params": params, "reason": REASON });
        let what = format!("{name} where {what}");
        self.refused("params", call, &what, "INVALID_PARAMS")
            .await?;
        if tools
            .iter()
            .any(|tool| tool["name"] == name && wrong_params(&tool["parameters"]).is_some())
        {
            let call = json!({ "toolName": name, "params": {}, "reason": REASON });
            let what = format!("{name} without its required params");
            self.refused("missingParams", call, &what, "INVALID_PARAMS")
                .await?;
        }
        Ok(())
    }

    async fn refused(
        &mut self,
        check: &'static str,
        call: Value,
        what: &str,
        code: &str,
    ) -> anyhow::Result<()> {
        let problem = match self.ask("tool.call", call).await? {
            None => Some(self.silent(what)),
            Some(answer) if answer["type"] != "error" => Some(format!(
                "{what} was answered with {}; it must be refused with {code}",
                answer["type"]
            )),
            Some(answer) if answer["payload"]["code"] != code => Some(format!(
                "{what} was refused with {}; it must be {code}",
                answer["payload"]["code"]
            )),
            Some(_) => None,
        };
        let good = format!("{what} is refused with {code}");
        self.report.judge(check, &good, problem);
        Ok(())
    }

    async fn message(&mut self) -> anyhow::Result<()> {
        let text = "This page is being checked.";
        self.wire
            .send("agent.message", json!({ "text": text }))
            .await?;
        let Some(snapshot) = self.snapshot("agentMessage").await? else {
            return Ok(());
        };
        match snapshot["messageHistory"].to_string().contains(text) {
            true => self
                .report
                .good("agentMessage", "agent messages are in messageHistory"),
            false => self.report.open(
                "agentMessage",
                "agent messages are not in messageHistory; the person should see them in the chat",
            ),
        }
        Ok(())
    }

    async fn start(&mut self) -> anyhow::Result<Option<String>> {
        let request = json!({ "studyId": "gangway-relay-check", "participantId": "check" });
        let (problem, study) = match self.ask("session.start", request).await? {
            None => (Some(self.silent("session.start")), None),
            Some(answer) if answer["type"] == "session.started" => {
                let id = answer["payload"]["sessionId"].as_str().map(str::to_owned);
                let none = "session.started must have a sessionId".to_owned();
                (id.is_none().then_some(none), id)
            }
            Some(answer) => (
                Some(format!(
                    "session.start failed with {}",
                    error_text(&answer["payload"])
                )),
                None,
            ),
        };
        self.report.judge(
            "sessionStart",
            "session.start starts a study session",
            problem,
        );
        Ok(study)
    }

    async fn end(&mut self, study: &str, begun: &Value) -> anyhow::Result<()> {
        let answer = self
            .ask("session.end", json!({ "reason": "checked" }))
            .await?;
        let problem = match answer {
            None => Some(self.silent("session.end")),
            Some(answer) if answer["type"] != "session.ended" => Some(format!(
                "session.end failed with {}",
                error_text(&answer["payload"])
            )),
            Some(answer) if answer["payload"]["sessionId"] != study => Some(format!(
                "session.ended has the sessionId {}, not {study:?}",
                answer["payload"]["sessionId"]
            )),
            Some(answer) if answer["payload"]["stateReset"] != true => {
                Some("session.ended must have stateReset: true, once the page is reset".into())
            }
            Some(_) => None,
        };
        self.report
            .judge("sessionEnd", "session.end ends the study session", problem);
        if let Some(after) = self.snapshot("reset").await? {
            let (stage, was) = (&after["uiSpec"]["stage"], &begun["uiSpec"]["stage"]);
            let state = (&after["uiSpec"]["state"], &begun["uiSpec"]["state"]);
            let problem = (stage != was || state.0 != state.1).then(|| {
                "after session.end the page differs from its state after session.start; it must be reset".to_owned()
            });
            self.report
                .judge("reset", "session.end resets the page", problem);
        }
        Ok(())
    }
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(60).collect()
}
