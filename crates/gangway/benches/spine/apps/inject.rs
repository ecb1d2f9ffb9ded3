//! The script that makes the context of a page, in Chromium: how long it holds up the scripts of the page itself.

use std::{path::Path, process::Stdio};

use anyhow::Context;
use serde::Deserialize;
use serde_json::json;

use super::Launched;
use crate::{
    Effort,
    median::{median, quantile},
    table::Row,
};

/// What drives the browser.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/spine/apps/inject.mjs");
const PLAYWRIGHT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../web/node_modules/playwright-core"
);
const CHROMIUM: &str = "/usr/bin/chromium";

/// Milliseconds, one for each load.
#[derive(Deserialize)]
struct Times {
    empty: Vec<f64>,
    small: Vec<f64>,
    large: Vec<f64>,
    /// From asking for the large data to having it, frozen.
    first: Vec<f64>,
}

/// The same page with an empty script, with 1 kB and with 900 kB of data, in turn.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    anyhow::ensure!(
        Path::new(PLAYWRIGHT).exists() && Path::new(CHROMIUM).exists(),
        "Chromium or what drives it is not installed: scripts/setup.sh chromium, scripts/setup.sh node-packages"
    );
    let gangway = super::server()?;
    let (small, large) = (
        Launched::new(&gangway, 1000).await?,
        Launched::new(&gangway, 900_000).await?,
    );
    let message = |one: &Launched| {
        let url = format!("http://{}/?launch={}", one.host, one.token);
        json!({ "url": url, "cookie": one.cookie })
    };
    let message = json!({
        "loads": effort.pick(5, 60),
        "chromium": CHROMIUM,
        "small": message(&small),
        "large": message(&large),
    });
    // A browser is many processes; the server does next to nothing meanwhile, so that they have its core as well.
    let mut command = tokio::process::Command::new("taskset");
    command.args(["-c", "0,1"]);
    // What else runs here is not what is measured: a neighbour that gets the core in between would be most of the figure.
    let first = tokio::process::Command::new("chrt")
        .args(["-r", "1", "true"])
        .output()
        .await;
    if first.is_ok_and(|tried| tried.status.success()) {
        command.args(["chrt", "-r", "1"]);
    }
    command
        .args(["node", SCRIPT, PLAYWRIGHT])
        .arg(message.to_string())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .kill_on_drop(true);
    let done = command.output().await.context("starting node")?;
    let text = String::from_utf8_lossy(&done.stdout);
    anyhow::ensure!(done.status.success(), "the browser failed: {text}");
    let times: Times = serde_json::from_str(&text).with_context(|| format!("it said {text:?}"))?;
    let row = |reason: &str, ours: &[f64], bar| {
        let tail = |times: &[f64]| quantile(times, 0.95);
        let name = format!("script before the page's own, {reason}, p95");
        Row::at_most(&name, tail(ours), Some(tail(&times.empty)), "ms", bar)
    };
    let middle = |ours: &[f64]| {
        let (ours, limit) = (median(ours), median(&times.empty));
        Row::compared("the same, p50", ours, limit, "ms")
    };
    Ok(vec![
        row("1 kB of data", &times.small, 2.0),
        middle(&times.small),
        row("900 kB of data", &times.large, 10.0),
        middle(&times.large),
        Row::shown(
            "the first use of the 900 kB, p50; p95",
            &format!(
                "{:.1} ms; {:.1} ms",
                median(&times.first),
                quantile(&times.first, 0.95)
            ),
            "–",
        ),
    ])
}
