//! A change of state from one tab to another: until the other tab has it, and until it is on the disk.

use std::{fs::File, io::Write, time::Instant};

use super::channel;
use crate::{
    Effort,
    frames::Page,
    limits,
    median::median,
    server::{Gangway, new_session},
    table::{Row, amount},
    wire::websocket,
};

/// What one change writes to the log of the database, near enough: a page for each of its tables.
const WRITTEN: usize = 16 << 10;

/// Two tabs through a bare relay, the disk alone, and two tabs of ours, in turn.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let gangway = Gangway::scripted("turns: []\n")?;
    let session = new_session(&mut gangway.connect().await?).await?;
    let limit = limits::start("relay", &[])?;
    let (address, path) = (gangway.process.address, channel(&session));
    let (mut near, mut far) = (
        Page::new(websocket(address, &path).await?),
        Page::new(websocket(address, &path).await?),
    );
    let (mut bare_near, mut bare_far) = (
        Page::new(websocket(limit.address, "/").await?),
        Page::new(websocket(limit.address, "/").await?),
    );
    // Where the database of the server is, too.
    let folder = tempfile::tempdir()?;
    let mut file = File::create(folder.path().join("sync"))?;
    let [mut seen, mut stored, mut relayed, mut synced] = [const { Vec::new() }; 4];
    let micros = |begin: Instant, end: Instant| (end - begin).as_secs_f64() * 1e6;
    for nth in 0..effort.pick(50, 600) {
        let change =
            format!(r#"{{"type":"setState","id":"change-{nth}","data":{{"count":{nth}}}}}"#);
        let (count, id) = (format!(r#""count":{nth}}}"#), format!(r#""change-{nth}""#));

        let begin = Instant::now();
        bare_near.say(&change).await?;
        relayed.push(micros(begin, bare_far.hear(&id).await?));

        let begin = Instant::now();
        file.write_all(&[7; WRITTEN])?;
        file.sync_data()?;
        synced.push(micros(begin, Instant::now()));

        let begin = Instant::now();
        near.say(&change).await?;
        let (other, own) = tokio::join!(far.hear(&count), near.hear(&id));
        seen.push(micros(begin, other?));
        stored.push(micros(begin, own?));
        // Below the rate at which a tab is held back.
        tokio::time::sleep(std::time::Duration::from_millis(6)).await;
    }
    let (relay, sync) = (median(&relayed), median(&synced));
    let bar = sync + 1.5 * relay;
    Ok(vec![
        Row::shown("a sync of the disk, p50", "–", &amount(sync, "µs")),
        Row::at_most(
            "a change of state until another tab has it, p50",
            median(&seen),
            Some(relay),
            "µs",
            bar,
        ),
        Row::at_most(
            "the same until it is on the disk and answered, p50",
            median(&stored),
            Some(sync + relay),
            "µs",
            bar,
        ),
    ])
}
