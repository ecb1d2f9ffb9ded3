//! Updates of the booking page after each step, in Chromium: their size early and late in a session.

use std::{path::Path, process::Stdio};

use anyhow::Context;
use serde_json::json;

use super::trips::WS;
use crate::{Effort, server::Gangway, table::Row};

/// What drives the browser, and is the agent.
const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/benches/spine/relay/updates.mjs"
);
const PLAYWRIGHT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../web/node_modules/playwright-core"
);
const CHROMIUM: &str = "/usr/bin/chromium";

/// The early step; a late one is a multiple of it, and so the page shows the same.
const EARLY: usize = 10;

/// One session of many steps.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let installed = [PLAYWRIGHT, WS, CHROMIUM].map(|path| Path::new(path).exists());
    anyhow::ensure!(
        installed == [true; 3],
        "Chromium or what drives it is not installed: scripts/setup.sh chromium, scripts/setup.sh node-packages"
    );
    let gangway = Gangway::with_settings("")?;
    let late = effort.pick(200, 1000);
    let message = json!({
        "chromium": CHROMIUM,
        "port": gangway.process.address.port(),
        "steps": late,
    });
    // A browser is many processes, and so they have the server's core as well.
    let mut command = tokio::process::Command::new("taskset");
    command
        .args(["-c", "0,1", "node", SCRIPT, PLAYWRIGHT, WS])
        .arg(message.to_string())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .kill_on_drop(true);
    let done = command.output().await.context("starting node")?;
    let text = String::from_utf8_lossy(&done.stdout);
    anyhow::ensure!(done.status.success(), "the browser failed: {text}");
    let bytes: Vec<u32> =
        serde_json::from_str(&text).with_context(|| format!("it said {text:?}"))?;
    let at = |step: usize| bytes.get(step - 1).copied().map(f64::from);
    let (early, last) = (at(EARLY).context("no step")?, at(late).context("no step")?);
    let figure = format!("state.updated of the booking page, step {late} against step {EARLY}");
    Ok(vec![Row::at_most_times(&figure, last, early, "bytes", 1.2)])
}
