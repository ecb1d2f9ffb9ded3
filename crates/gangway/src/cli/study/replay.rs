//! Replays the agent's calls of a study session and compares the results.

use std::{process::ExitCode, time::Duration};

use anyhow::{Context, ensure};
use gangway_client::ServerClient;
use gangway_devtools::relay_client::{Wire, error_text};
use gangway_relay::{RelayName, StudyId, study::StudyEvents};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    Common, LIST,
    recorded::{Outcome, Recorded, RecordedAction, RecordedStep},
};
use crate::cli::{print_json, say::say, server::running};

/// Longer than a page may take.
const TIMEOUT: Duration = Duration::from_secs(120);

pub(super) struct ReplayOptions {
    pub(super) id: StudyId,
    pub(super) speed: f64,
    pub(super) relay: Option<RelayName>,
    pub(super) token: Option<String>,
    pub(super) json: bool,
}

pub(super) async fn run(request: ReplayOptions, common: &Common) -> anyhow::Result<ExitCode> {
    let server = running(common)?.context(
        "Gangway is not running; start it (gangway serve), open the page, and try again",
    )?;
    let entry = super::entry(&server, &request.id).await?;
    let relay = match &request.relay {
        Some(relay) => relay.to_string(),
        None => entry.relay_session,
    };
    let (parts, setup) = read(&server, &request.id).await?;
    let (url, key) = server.address();
    let url = url.parse().map_err(anyhow::Error::msg)?;
    let mut wire = Wire::open(&url, Some(key)).await?;
    let joined = wire.join(&relay, request.token.as_deref(), TIMEOUT).await?;
    ensure!(
        joined["host"] == true,
        "no page has joined the relay session {relay}; open one and try again, or name another relay session with --relay"
    );
    begin(&mut wire, &request.id, setup).await?;
    let played = play(&mut wire, &request, &parts).await;
    // End the session in any case, so that the page is not left in the middle.
    let end = json!({ "reason": "replayed" });
    let ended = wire.ask("session.end", end, TIMEOUT).await;
    let steps = played?;
    ended?;
    let differ = steps.iter().filter(|step| step["same"] == false).count();
    if request.json {
        print_json(
            &json!({ "sessionId": request.id.as_str(), "steps": steps, "different": differ }),
        )?;
    } else {
        say!("{} calls, {differ} with a different result", steps.len());
    }
    Ok(ExitCode::from(u8::from(differ > 0)))
}

/// Resets the page, to the recorded initial state if there is one. The replay is its own study session.
async fn begin(wire: &mut Wire, id: &StudyId, setup: Option<Value>) -> anyhow::Result<()> {
    let mut start = json!({ "studyId": "replay", "participantId": id.as_str() });
    if let Some(setup) = setup {
        start["setup"] = setup;
    }
    let answer = wire.ask("session.start", start, TIMEOUT).await?;
    ensure!(
        answer["type"] == "session.started",
        "the page cannot reset itself: {}",
        error_text(&answer["payload"])
    );
    Ok(())
}

async fn read(
    server: &ServerClient,
    id: &StudyId,
) -> anyhow::Result<(Vec<RecordedStep>, Option<Value>)> {
    let mut recorded = Recorded::default();
    let mut after = 0;
    loop {
        let path = format!("{LIST}/{id}/events?after={after}");
        let page: StudyEvents = server.get(&path).await?;
        let last = page.events.last().map(|event| event.event_index);
        for event in page.events {
            recorded.take(event);
        }
        match last {
            Some(last) if page.more => after = last,
            _ => break,
        }
    }
    let (parts, setup) = recorded.finish();
    let any = parts
        .iter()
        .any(|part| !matches!(part.act, RecordedAction::Person(_)));
    ensure!(any, "{id} has no agent calls to replay");
    Ok((parts, setup))
}

async fn play(
    wire: &mut Wire,
    request: &ReplayOptions,
    parts: &[RecordedStep],
) -> anyhow::Result<Vec<Value>> {
    let mut steps = Vec::new();
    let mut before = None;
    for part in parts {
        let since = before.replace(part.at);
        if let Some(since) = since.filter(|_| request.speed > 0.0) {
            let seconds = part.at.duration_since(since).as_secs_f64().max(0.0) / request.speed;
            let pause = Duration::try_from_secs_f64(seconds);
            sleep(pause.context("the pauses are too long at this speed")?).await;
        }
        match &part.act {
            RecordedAction::Person(what) => {
                print_event(request, || format!("- the person {what} (not replayed)"))
            }
            RecordedAction::Say(message) => {
                wire.send("agent.message", message.clone()).await?;
                print_event(request, || {
                    format!("  agent: {}", message["text"].as_str().unwrap_or_default())
                });
            }
            RecordedAction::Call { payload, then } => {
                let step = call(wire, payload, then.as_ref()).await?;
                print_event(request, || line(&step));
                steps.push(step);
            }
        }
    }
    Ok(steps)
}

fn print_event(request: &ReplayOptions, message: impl FnOnce() -> String) {
    if !request.json {
        say!("{}", message());
    }
}

async fn call(wire: &mut Wire, payload: &Value, then: Option<&Outcome>) -> anyhow::Result<Value> {
    let answer = wire.ask("tool.call", payload.clone(), TIMEOUT).await?;
    let kind = answer["type"].as_str().unwrap_or_default();
    let empty = serde_json::Map::new();
    let now = Outcome::of(kind, answer["payload"].as_object().unwrap_or(&empty));
    // A call that was never answered has nothing to compare with.
    let same = then.is_none_or(|then| then.is_like(&now));
    Ok(json!({
        "toolName": payload["toolName"], "params": payload["params"], "reason": payload["reason"],
        "then": then, "now": now, "same": same,
        "thenWords": then.map_or("never answered".into(), Outcome::close_info), "nowWords": now.close_info(),
        "message": answer["payload"]["message"],
    }))
}

fn line(step: &Value) -> String {
    let text = |name: &str| step[name].as_str().unwrap_or_default().to_owned();
    let mark = if step["same"] == true { "=" } else { "≠" };
    let message = match step["message"].as_str() {
        Some(message) if step["same"] == false => format!(" ({message})"),
        _ => String::new(),
    };
    format!(
        "{mark} {} {}: {}\n    then: {}   now: {}{message}",
        text("toolName"),
        step["params"],
        text("reason"),
        text("thenWords"),
        text("nowWords"),
    )
}
