//! Pages in Chromium and in Firefox with the extension in it: what a tool call costs them.

use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use super::{CHROMIUM, PLAYWRIGHT, drive};
use crate::{
    Effort, gateways, limits, mcp,
    median::{median, quantile},
    server::{Gangway, binary},
    table::{Row, amount},
};

/// What drives the browsers.
const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/benches/spine/pages/extension.mjs"
);
const WEB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web");
const FIREFOXES: [&str; 2] = ["/usr/bin/firefox-esr", "/usr/bin/firefox"];

/// How long a tool call may take in Chromium.
const CALL: f64 = 15.0;

/// What the browsers saw.
#[derive(Deserialize)]
struct Seen {
    chromium: Calls,
    /// Not where it is not installed.
    firefox: Option<Calls>,
}

#[derive(Deserialize)]
struct Calls {
    /// Milliseconds of single calls.
    calls: Vec<f64>,
    /// The same of messages that a bare WebSocket sends back.
    echoes: Vec<f64>,
}

/// Calls of a tool and echoes of a bare WebSocket in the same page, in turn.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let built = Path::new(WEB).join("extension/dist/chromium");
    anyhow::ensure!(
        Path::new(PLAYWRIGHT).exists() && Path::new(CHROMIUM).exists() && built.exists(),
        "Chromium, what drives it or the extension is not there: scripts/setup.sh chromium, make extension"
    );
    let gangway = Gangway::with_settings(&mcp::settings(1)?)?;
    gateways::all_ready(&gangway.process, 1).await?;
    let answers = limits::start("answers", &[])?;
    let firefox = FIREFOXES.iter().find(|path| Path::new(path).exists());
    let message = json!({
        "chromium": CHROMIUM,
        "firefox": firefox,
        "binary": binary(),
        "data": gangway.data(),
        "gangway": format!("http://{}", gangway.process.address),
        "token": gangway.local_token()?,
        "echo": format!("ws://{}", answers.address),
        "calls": effort.pick(50, 600),
    });
    let seen: Seen = drive(SCRIPT, WEB, &message).await?;
    let tail = |times: &[f64]| amount(quantile(times, 0.95), "ms");
    let mut rows = vec![
        Row::at_most(
            "tools.call through the extension, Chromium, p50",
            median(&seen.chromium.calls),
            Some(median(&seen.chromium.echoes)),
            "ms",
            CALL,
        ),
        Row::shown(
            "the same, p95",
            &tail(&seen.chromium.calls),
            &tail(&seen.chromium.echoes),
        ),
    ];
    match seen.firefox {
        Some(firefox) => {
            rows.push(Row::compared(
                "tools.call through the extension, Firefox, p50",
                median(&firefox.calls),
                median(&firefox.echoes),
                "ms",
            ));
            rows.push(Row::shown(
                "the same, p95",
                &tail(&firefox.calls),
                &tail(&firefox.echoes),
            ));
        }
        None => rows.push(Row::shown(
            "tools.call through the extension, Firefox",
            "not installed",
            "–",
        )),
    }
    Ok(rows)
}
