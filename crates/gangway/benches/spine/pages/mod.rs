//! Pages of other origins in Chromium: what a tool call costs them, and how much of a model's pace reaches them.

pub mod extension;
pub mod replay;

use std::{path::Path, process::Stdio, time::Duration};

use anyhow::Context;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;

use crate::{
    Effort, gateways, limits, mcp,
    median::{median, quantile},
    model::{Model, Plan},
    server::Gangway,
    table::{Row, amount},
};

/// What drives the browser.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/spine/pages/page.mjs");
const PLAYWRIGHT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../web/node_modules/playwright-core"
);
const CHROMIUM: &str = "/usr/bin/chromium";

/// How long a tool call may take.
const CALL: f64 = 5.0;

/// The pace of the model, and how much of it must reach the page.
const EVERY: Duration = Duration::from_millis(2);
const SHARE: f64 = 0.9;

/// What the browser saw.
#[derive(Deserialize)]
struct Seen {
    /// Milliseconds of single calls.
    calls: Vec<f64>,
    /// The same of messages that a bare WebSocket sends back.
    echoes: Vec<f64>,
    /// Tokens a second of each answer, in the page and by curl.
    streamed: Vec<f64>,
    read: Vec<f64>,
}

/// A page and a bare WebSocket in it, then the page and curl, in turn.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    anyhow::ensure!(
        Path::new(PLAYWRIGHT).exists() && Path::new(CHROMIUM).exists(),
        "Chromium or what drives it is not installed: scripts/setup.sh chromium, scripts/setup.sh node-packages"
    );
    let tokens = effort.pick(200, 1000);
    let model = Model::start(Plan {
        tokens,
        every: EVERY,
        bytes: 24,
        epoch: std::time::Instant::now(),
    })
    .await?;
    let gangway = Gangway::with_both(&mcp::settings(1)?, model.address)?;
    gateways::all_ready(&gangway.process, 1).await?;
    let answers = limits::start("answers", &[])?;
    let message = json!({
        "chromium": CHROMIUM,
        "gangway": format!("http://{}", gangway.process.address),
        "token": gangway.local_token()?,
        "model": format!("http://{}/v1/chat/completions", model.address),
        "echo": format!("ws://{}", answers.address),
        "tokens": tokens,
        "calls": effort.pick(50, 600),
        "answers": effort.pick(2, 10),
    });
    let seen: Seen = drive(SCRIPT, PLAYWRIGHT, &message).await?;
    let ratios = seen
        .streamed
        .iter()
        .zip(&seen.read)
        .map(|(ours, limit)| ours / limit);
    let ratios: Vec<f64> = ratios.collect();
    let tail = |times: &[f64]| amount(quantile(times, 0.95), "ms");
    Ok(vec![
        Row::at_most(
            "tools.call from a page and back, p50",
            median(&seen.calls),
            Some(median(&seen.echoes)),
            "ms",
            CALL,
        ),
        Row::shown("the same, p95", &tail(&seen.calls), &tail(&seen.echoes)),
        Row::at_least_ratio(
            "promptStreaming in a page, model at 500 tokens/s",
            (median(&seen.streamed), median(&seen.read)),
            median(&ratios),
            "tokens/s",
            SHARE,
        ),
    ])
}

/// The output of a Node script with this input.
async fn drive<T: DeserializeOwned>(
    script: &str,
    packages: &str,
    message: &serde_json::Value,
) -> anyhow::Result<T> {
    // A browser is many processes, and so they have the server's core as well.
    let mut command = tokio::process::Command::new("taskset");
    command
        .args(["-c", "0,1", "node", script, packages])
        .arg(message.to_string())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .kill_on_drop(true);
    let done = command.output().await.context("starting node")?;
    let text = String::from_utf8_lossy(&done.stdout);
    anyhow::ensure!(done.status.success(), "the browser failed: {text}");
    serde_json::from_str(&text).with_context(|| format!("it said {text:?}"))
}
