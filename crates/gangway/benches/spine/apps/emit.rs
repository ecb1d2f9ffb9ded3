//! Events of a page, until they are acknowledged by the agent and on disk.

use std::{
    fs::File,
    io::Write,
    time::{Duration, Instant},
};

use anyhow::Context;
use futures_util::future::try_join_all;
use serde_json::{Value, json};

use super::{EVENT, Launched};
use crate::{
    Effort,
    frames::Page,
    median::{median, quantile},
    table::{Row, amount},
};

/// What one event writes to the log of the database, near enough: a page for each of its tables.
const WRITTEN: usize = 16 << 10;

/// Pages that talk at once, each of a launch with an agent of its own, and how often each does: 500 a second in all.
const PAGES: usize = 20;
const EVERY: Duration = Duration::from_millis(40);

/// One page alone beside the disk alone, in turn; then many at a pace.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let gangway = super::server()?;
    let launched = Launched::new(&gangway, 1000).await?;
    let (mut page, mut agent) = (launched.page().await?, launched.agent().await?);
    // Where the database of the server is, too.
    let folder = tempfile::tempdir()?;
    let mut file = File::create(folder.path().join("sync"))?;
    let [mut acked, mut synced] = [const { Vec::new() }; 2];
    for nth in 0..effort.pick(50, 600) {
        let begin = Instant::now();
        file.write_all(&[7; WRITTEN])?;
        file.sync_data()?;
        synced.push(begin.elapsed().as_secs_f64() * 1e6);

        let id = format!("one-{nth}");
        let begin = Instant::now();
        page.say(&event(&id)).await?;
        let took = async {
            agent.hear(&format!(r#""{id}""#)).await?;
            agent.say(&ack(&id)).await
        };
        let (took, end) = tokio::join!(took, page.hear("weblet-ack"));
        took?;
        acked.push((end? - begin).as_secs_f64() * 1e6);
        // Below the rate at which a page is held back.
        tokio::time::sleep(Duration::from_millis(6)).await;
    }
    let sync = median(&synced);
    let mut rows = vec![
        Row::shown(
            "a sync of the disk, p50; p95",
            "–",
            &format!(
                "{}; {}",
                amount(sync, "µs"),
                amount(quantile(&synced, 0.95), "µs")
            ),
        ),
        Row::at_most(
            "emit until the agent has it and the disk too, p50",
            median(&acked),
            Some(sync),
            "µs",
            sync + 2000.0,
        ),
    ];
    drop((page, agent));
    let mut pages = Vec::new();
    for _ in 0..PAGES {
        let launched = Launched::new(&gangway, 1000).await?;
        pages.push((launched.page().await?, launched.agent().await?));
    }
    let count = effort.pick(50, 500);
    let begin = Instant::now();
    let talks = pages.into_iter().zip(0u32..).map(|((page, agent), nth)| {
        // Spread evenly, as people are who know nothing of each other.
        let first = begin + EVERY * nth / u32::try_from(PAGES).unwrap_or(1);
        talk(page, agent, first, count)
    });
    let times: Vec<f64> = try_join_all(talks).await?.concat();
    let rate = times.len() as f64 / begin.elapsed().as_secs_f64();
    rows.push(Row::at_most(
        &format!("{PAGES} pages, {rate:.0} emits/s in all, p99"),
        quantile(&times, 0.99),
        None,
        "ms",
        100.0,
    ));
    let middle = amount(median(&times), "ms");
    let tail = amount(quantile(&times, 0.95), "ms");
    rows.push(Row::shown(
        "the same, p50; p95",
        &format!("{middle}; {tail}"),
        "–",
    ));
    Ok(rows)
}

fn event(id: &str) -> String {
    let payload = json!({ "expense_id": "e-000001", "reason": "twice in one day" });
    json!({ "type": "weblet-event", "id": id, "event": EVENT, "payload": payload, "timestamp": 0, "weblet": super::APP })
        .to_string()
}

fn ack(id: &str) -> String {
    json!({ "type": "weblet-ack", "id": id }).to_string()
}

/// Sends this many events, each at its scheduled time, and measures from that time: one that waits for those before it
/// waits. The times in milliseconds.
async fn talk(
    mut page: Page,
    mut agent: Page,
    first: Instant,
    count: u32,
) -> anyhow::Result<Vec<f64>> {
    let due = |nth: u32| first + EVERY * nth;
    let (mut message, mut times) = (0, Vec::new());
    while times.len() < count as usize {
        let now = tokio::time::Instant::from_std(due(message));
        tokio::select! {
            () = tokio::time::sleep_until(now), if message < count => {
                page.say(&event(&message.to_string())).await?;
                message += 1;
            }
            text = page.next() => {
                let nth = id(&text?, "weblet-ack")?;
                times.extend(nth.map(|nth| due(nth).elapsed().as_secs_f64() * 1e3));
            }
            text = agent.next() => {
                if let Some(nth) = id(&text?, "weblet-event")? {
                    agent.say(&ack(&nth.to_string())).await?;
                }
            }
        }
    }
    Ok(times)
}

/// The number that a message of this kind is named by.
fn id(text: &str, kind: &str) -> anyhow::Result<Option<u32>> {
    let message: Value = serde_json::from_str(text)?;
    anyhow::ensure!(message["type"] != "weblet-nack", "{text}");
    if message["type"] != kind {
        return Ok(None);
    }
    let id = message["id"].as_str().context("no id")?;
    Ok(Some(id.parse()?))
}
