//! Checks successful calls: their results and updates.

use serde_json::{Map, Value, json};

use super::{
    super::{CheckArgs, params::guess},
    Check, REASON,
};
use crate::relay_client::error_text;

/// The numbers of calls after which updates are compared; by the second, a bounded history is full.
const EARLY: usize = 15;
const LATE: usize = 45;

/// Allowed growth of an update between them, plus some digits.
const GROWTH: f64 = 1.2;
const DIGITS: usize = 64;

/// A call that succeeds.
pub(super) struct Call {
    tool: String,
    params: Value,
}

impl Check {
    /// The first call that succeeds: the one given with --call, or a guessed one.
    pub(super) async fn working_call(
        &mut self,
        args: &CheckArgs,
        snapshot: &Value,
    ) -> anyhow::Result<Option<Call>> {
        let mut candidates = Vec::new();
        if let Some(named) = &args.call {
            let (tool, params) = named.split_once('=').unwrap_or((named, "{}"));
            let params: Value = serde_json::from_str(params)
                .map_err(|error| anyhow::anyhow!("the params of --call are not JSON: {error}"))?;
            candidates.push((tool.to_owned(), params));
        } else {
            let tools = snapshot["toolSchema"].as_array();
            for tool in tools.into_iter().flatten() {
                let params = guess(&tool["parameters"], &snapshot["uiSpec"]);
                if let (Some(name), Some(params)) = (tool["name"].as_str(), params) {
                    candidates.push((name.to_owned(), Value::Object(params)));
                }
            }
            // Tools with params tend to show something; tools without tend to navigate.
            candidates.sort_by_key(|(_, params)| params.as_object().is_none_or(Map::is_empty));
        }
        let mut refusal = None;
        for (tool, params) in candidates {
            let call = json!({ "toolName": tool, "params": params, "reason": REASON });
            match self.ask("tool.call", call).await? {
                Some(answer) if answer["type"] == "tool.result" => {
                    // Consume its update now, not during a later check.
                    self.wire.wait(self.timeout, is_update).await?;
                    return Ok(Some(Call { tool, params }));
                }
                Some(answer) => refusal = Some(error_text(&answer["payload"])),
                None => refusal = Some(self.silent(&tool)),
            }
        }
        if let (Some(named), Some(refusal)) = (&args.call, refusal) {
            anyhow::bail!("the call {named} given with --call failed: {refusal}");
        }
        Ok(None)
    }

    /// Checks the result of a call, the state afterwards, and the update.
    pub(super) async fn result(&mut self, call: &Call) -> anyhow::Result<()> {
        self.wire.forget();
        let request = json!({ "toolName": call.tool, "params": call.params, "reason": REASON });
        let Some(answer) = self.ask("tool.call", request).await? else {
            let message = self.silent(&call.tool);
            self.report.wrong("result", message);
            return Ok(());
        };
        let payload = &answer["payload"];
        if answer["type"] != "tool.result" {
            let message = format!(
                "{} succeeded once, but not twice; choose another call with --call",
                call.tool
            );
            self.report.open("result", message);
            return Ok(());
        }
        let text = self.wire.wait(self.timeout, is_update).await?;
        let problem = if payload["ok"] != true {
            Some(format!(
                "ok is {}; a tool.result must have ok: true, failures are errors",
                payload["ok"]
            ))
        } else if payload["toolName"] != call.tool.as_str() {
            Some(format!(
                "toolName is {}, not {:?}",
                payload["toolName"], call.tool
            ))
        } else if !payload["uiSpec"].is_object() || !payload["messageHistory"].is_array() {
            Some("tool.result must have uiSpec and messageHistory".into())
        } else {
            None
        };
        self.report.judge(
            "result",
            "tool.result has ok, toolName, uiSpec and messageHistory",
            problem,
        );
        if let Some(after) = self.snapshot("stateAfter").await? {
            let same = after["uiSpec"] == payload["uiSpec"];
            let problem = (!same).then(|| {
                format!("the uiSpec of tool.result differs from snapshot.get right after {}; it must be the state after the call", call.tool)
            });
            self.report.judge(
                "stateAfter",
                "tool.result shows the state after the call",
                problem,
            );
        }
        let problem = match text {
            None => Some(format!(
                "there was no state.updated after {}; every change must be sent to all agents",
                call.tool
            )),
            Some((update, _)) => {
                let update = self.seen(update);
                let payload = &update["payload"];
                let source = payload["source"].as_str().unwrap_or_default();
                if source != "agent" {
                    Some(format!(
                        "the source of state.updated after a call is {source:?}; it must be \"agent\""
                    ))
                } else if !payload["uiSpec"].is_object() || !payload["messageHistory"].is_array() {
                    Some("state.updated must have uiSpec and messageHistory".into())
                } else {
                    None
                }
            }
        };
        self.report.judge(
            "stateUpdated",
            "a call is followed by state.updated",
            problem,
        );
        Ok(())
    }

    /// Checks that updates do not grow with the session.
    pub(super) async fn growth(&mut self, call: &Call) -> anyhow::Result<()> {
        let mut sizes = Vec::new();
        for _ in 0..LATE {
            self.wire.forget();
            let request = json!({ "toolName": call.tool, "params": call.params, "reason": REASON });
            let answer = self.ask("tool.call", request).await?;
            if answer.is_none_or(|answer| answer["type"] != "tool.result") {
                break;
            }
            let Some((update, size)) = self.wire.wait(self.timeout, is_update).await? else {
                break;
            };
            self.seen(update);
            sizes.push(size);
        }
        // Sizes may alternate; compare calls of the same parity.
        let (Some(early), Some(late)) = (sizes.get(EARLY - 1), sizes.get(LATE - 1)) else {
            let message = "too few calls in a row succeeded to compare the size of updates";
            self.report.open("growth", message);
            return Ok(());
        };
        let most = *early as f64 * GROWTH;
        let grown = *late as f64 > most && *late > early + DIGITS;
        let problem = grown.then(|| {
            format!("state.updated has {early} bytes after {EARLY} calls and {late} after {LATE}: it must not grow with the session; send only the end of messageHistory")
        });
        self.report
            .judge("growth", "updates do not grow with the session", problem);
        Ok(())
    }
}

fn is_update(message: &Value) -> bool {
    message["type"] == "state.updated"
}
