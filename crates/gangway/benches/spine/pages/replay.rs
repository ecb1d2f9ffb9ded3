//! The replay of a long session in Chromium: the time to its first frame, and the longest task while it is used.

use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use super::{CHROMIUM, PLAYWRIGHT, drive};
use crate::{
    Effort,
    median::{median, quantile},
    server::Gangway,
    table::{Row, amount},
};

/// What drives the browser.
const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/benches/spine/pages/replay.mjs"
);

/// How long the first frame may take, and a task at the longest.
const FIRST: f64 = 1000.0;
const TASK: f64 = 100.0;

/// Calls of one message: most events of a session are those of tools.
const CALLS: usize = 250;

/// What the browser saw of one opening, in milliseconds.
#[derive(Deserialize)]
struct Opened {
    events: usize,
    first: f64,
    /// Until all events were there.
    loaded: f64,
    /// The longest task while it was opened, scrolled through and stepped through.
    opening: f64,
    scrolling: f64,
    stepping: f64,
    /// Each frame while it was scrolled through.
    frames: Vec<f64>,
}

/// A session with many events beside one with few.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    anyhow::ensure!(
        Path::new(PLAYWRIGHT).exists() && Path::new(CHROMIUM).exists(),
        "Chromium or what drives it is not installed: scripts/setup.sh chromium, scripts/setup.sh node-packages"
    );
    let gangway = Gangway::scripted(&script())?;
    let (few, many) = (1_000, effort.pick(10_000, 100_000));
    let message = json!({
        "chromium": CHROMIUM,
        "gangway": format!("http://{}", gangway.process.address),
        "token": gangway.local_token()?,
        "sessions": [few, many],
        "opens": effort.pick(1, 5),
    });
    let seen: Vec<Opened> = drive(SCRIPT, PLAYWRIGHT, &message).await?;
    let of = |events: usize, value: fn(&Opened) -> f64| -> f64 {
        let opened = seen.iter().filter(|opened| opened.events == events);
        median(&opened.map(value).collect::<Vec<_>>())
    };
    let frames: Vec<f64> = seen
        .iter()
        .filter(|opened| opened.events == many)
        .flat_map(|opened| opened.frames.iter().copied())
        .collect();
    let task = |name: &str, value: fn(&Opened) -> f64| {
        Row::at_most(name, of(many, value), Some(of(few, value)), "ms", TASK)
    };
    Ok(vec![
        Row::at_most(
            &format!("replay of {many} events, first frame"),
            of(many, |opened| opened.first),
            Some(of(few, |opened| opened.first)),
            "ms",
            FIRST,
        ),
        Row::shown(
            "the same, all events",
            &amount(of(many, |opened| opened.loaded), "ms"),
            &amount(of(few, |opened| opened.loaded), "ms"),
        ),
        task("the longest task while it opens", |opened| opened.opening),
        task("the longest task while it scrolls", |opened| {
            opened.scrolling
        }),
        task("the longest task while it steps", |opened| opened.stepping),
        Row::shown(
            "frames while it scrolls, p99",
            &amount(quantile(&frames, 0.99), "ms"),
            "–",
        ),
    ])
}

fn script() -> String {
    let step = json!({ "tool": {
        "name": "files/read",
        "arguments": { "path": "src/main.rs", "line": 17 },
        "result": "The quick brown fox jumps over the lazy dog, and the line goes on for a while."
    } });
    let mut steps = vec![step; CALLS];
    steps.push(json!({ "say": "Done." }));
    json!({ "description": "Reads files.", "turns": [{ "steps": steps }] }).to_string()
}
