//! Appends a second to the log, each written before anyone sees it: ours through the store, the limit to a bare file.

use std::{
    fs::File,
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Context;
use futures_util::future::try_join_all;
use gangway_core::{Event, MessageId, SessionId, Store, store::Append};

use crate::{Effort, limits, median::median, table::Row};

/// Appends in flight, and appends between two syncs.
const TOGETHER: usize = 64;

/// Ours and a bare file, with a sync after each group and without any.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let millis = effort.pick(200, 1500);
    let kinds = [
        "store",
        "file",
        "store-synced",
        "file-synced",
        "store-alone",
        "file-alone",
    ];
    let mut rates = kinds.map(|_| Vec::new());
    for _ in 0..effort.pick(2, 7) {
        for (kind, rates) in kinds.iter().zip(&mut rates) {
            let arguments = [(*kind).to_owned(), millis.to_string()];
            let output = limits::command("appends", &arguments)?.output()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            rates.push(text.trim().parse::<f64>().context(text)?);
        }
    }
    let [
        store,
        file,
        store_synced,
        file_synced,
        store_alone,
        file_alone,
    ] = rates.map(|rates| median(&rates));
    Ok(vec![
        Row::at_least_times(
            "log appends, one sync per 64",
            store_synced,
            file_synced,
            "/s",
            0.5,
        ),
        Row::compared("log appends, written and not synced", store, file, "/s"),
        Row::compared(
            "one log append after another, time each",
            1e6 / store_alone,
            1e6 / file_alone,
            "µs",
        ),
    ])
}

/// Appends for a while and prints how many a second; it has the server's core.
pub fn run(arguments: &[String]) -> anyhow::Result<()> {
    let [kind, millis] = arguments else {
        anyhow::bail!("give a kind and a time");
    };
    let time = Duration::from_millis(millis.parse()?);
    let folder = tempfile::tempdir()?;
    let synced = kind.ends_with("-synced");
    let together = if kind.ends_with("-alone") {
        1
    } else {
        TOGETHER
    };
    let rate = if kind.starts_with("store") {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        runtime.block_on(to_store(folder.path(), time, together, synced))?
    } else {
        to_file(folder.path(), time, together, synced)?
    };
    println!("{rate}");
    Ok(())
}

fn event() -> Event {
    Event::Delta {
        turn: 12,
        message: MessageId::nth(12, 1),
        text: "a few words of an answer ".into(),
    }
}

async fn to_store(
    folder: &Path,
    time: Duration,
    together: usize,
    synced: bool,
) -> anyhow::Result<f64> {
    let store = Store::open(folder)?;
    let session = SessionId::new();
    let begin = Instant::now();
    let mut appended = 0_u32;
    while begin.elapsed() < time {
        let appends = (0..together).map(|_| {
            store.append(Append {
                session,
                events: vec![event()],
                records: Vec::new(),
                log: None,
                once: None,
            })
        });
        let written = try_join_all(appends).await?;
        if synced && let Some(last) = written.last() {
            store.keep(last.commit).await?;
        }
        appended += u32::try_from(together)?;
    }
    Ok(f64::from(appended) / begin.elapsed().as_secs_f64())
}

fn to_file(folder: &Path, time: Duration, together: usize, synced: bool) -> anyhow::Result<f64> {
    let mut line = serde_json::to_vec(&event())?;
    line.push(b'\n');
    let mut file = File::create(folder.join("lines"))?;
    let begin = Instant::now();
    let mut appended = 0_u32;
    while begin.elapsed() < time {
        for _ in 0..together {
            file.write_all(&line)?;
        }
        if synced {
            file.sync_data()?;
        }
        appended += u32::try_from(together)?;
    }
    Ok(f64::from(appended) / begin.elapsed().as_secs_f64())
}
