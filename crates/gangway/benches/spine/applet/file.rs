//! A large file over the channel, as text and as bytes: how fast, and how much memory it takes meanwhile.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
    time::Instant,
};

use anyhow::Context;

use super::channel;
use crate::{
    Effort, frames::Page, limits, machine::Measured, median::median, server::Gangway, table::Row,
    wire::websocket,
};

const NAME: &str = "large.txt";

/// As source code and logs are: lines, a few quotes, hardly anything outside ASCII.
const LINE: &str = "2026-11-11T11:11:11.111Z  info  \"task-board\" moved card 1234 to Done – 12 ms, 3 rows, 0 errors\n";

/// The same file from ours and from a server that does nothing else, in turn.
#[expect(clippy::cast_precision_loss, reason = "bytes far below 2^52")]
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let size: usize = effort.pick(64 << 20, 1 << 30);
    let gangway = Gangway::scripted("turns: []\n")?;
    let mut caller = gangway.connect().await?;
    let (_, made) = caller.request("POST", "/api/sessions", "{}").await?;
    let made: serde_json::Value = serde_json::from_slice(&made)?;
    let text = |name: &str| made[name].as_str().context("no such field");
    let (session, folder) = (text("sessionId")?, Path::new(text("cwd")?));
    std::fs::create_dir_all(folder)?;
    let file = folder.join(NAME);
    fill(&file, size)?;
    let limit = limits::start("file", &[file.to_string_lossy().into_owned()])?;
    let mut rows = Vec::new();
    let mut most = 0;
    for (form, binary) in [("text", false), ("bytes", true)] {
        let (mut ours, mut bare) = (Side::default(), Side::default());
        for round in 0..=effort.pick(1, 5) {
            let before = gangway.process.memory()?;
            let path = channel(session);
            let read = take(&gangway.process, &path, binary, size).await?;
            most = most.max(gangway.process.peak_memory()?.saturating_sub(before));
            let least = take(&limit, "/", binary, size).await?;
            // The first round brings the file into memory.
            if round > 0 {
                ours.add(read);
                bare.add(least);
            }
        }
        let name = format!("readFile of {} MB as {form}", size >> 20);
        rows.push(Row::at_least_times(
            &name,
            median(&ours.rates),
            median(&bare.rates),
            "MB/s",
            0.6,
        ));
        rows.push(Row::compared(
            &format!("{name}, CPU a MB"),
            median(&ours.cpu),
            median(&bare.cpu),
            "µs",
        ));
    }
    rows.push(Row::at_most(
        "memory of the server above idle meanwhile, peak",
        most as f64 / 1e6,
        None,
        "MB",
        32.0,
    ));
    Ok(rows)
}

#[derive(Default)]
struct Side {
    /// Megabytes of the file a second.
    rates: Vec<f64>,
    /// Microseconds of CPU a megabyte.
    cpu: Vec<f64>,
}

impl Side {
    fn add(&mut self, (rate, cpu): (f64, f64)) {
        self.rates.push(rate);
        self.cpu.push(cpu);
    }
}

/// Reads the file once; megabytes a second, and CPU of the server a megabyte.
#[expect(clippy::cast_precision_loss, reason = "bytes far below 2^52")]
async fn take(
    server: &Measured,
    path: &str,
    binary: bool,
    size: usize,
) -> anyhow::Result<(f64, f64)> {
    let mut page = Page::new(websocket(server.address, path).await?);
    page.hear(r#""type":"ready""#).await?;
    let cpu = server.cpu()?;
    let begin = Instant::now();
    page.say(&format!(
        r#"{{"type":"readFile","id":1,"path":"{NAME}","binary":{binary}}}"#
    ))
    .await?;
    let end = page.hear(r#""done":true"#).await?;
    anyhow::ensure!(page.bytes > size, "only {} bytes came", page.bytes);
    let megabytes = size as f64 / 1e6;
    let spent = server.cpu()?.saturating_sub(cpu);
    Ok((
        megabytes / (end - begin).as_secs_f64(),
        spent.as_secs_f64() * 1e6 / megabytes,
    ))
}

fn fill(path: &Path, size: usize) -> anyhow::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let lines = size / LINE.len();
    for _ in 0..lines {
        file.write_all(LINE.as_bytes())?;
    }
    file.write_all(&vec![b'.'; size - lines * LINE.len()])?;
    // What the kernel writes back later would be measured too.
    Ok(file.into_inner()?.sync_data()?)
}
