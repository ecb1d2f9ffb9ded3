//! How soon a started process answers, with nothing and with much stored, and what it is at rest.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::try_join_all;
use gangway_agents::Scripted;
use gangway_core::{Agents, Hub, Limits, NewSession, SessionId, Store};

use crate::{
    Effort, limits,
    machine::Measured,
    median::median,
    server::{Gangway, binary_size, feed, new_session, prepare, say},
    table::Row,
    wire::{Connection, find, sse},
};

const SCRIPT: &str = "turns: [{steps: [{delta: 'word '}]}]\n";

/// Creates that are made together: enough to share syncs, few enough for the queue.
const TOGETHER: usize = 256;

/// Starts with an empty folder and with one that holds many sessions, in turn.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let stored = effort.pick(1000, 10_000);
    let full = tempfile::tempdir()?;
    prepare(full.path(), SCRIPT)?;
    fill(full.path(), stored).await?;
    let (mut fresh, mut laden) = (Samples::default(), Samples::default());
    let (mut bare, mut work) = (Vec::new(), Vec::new());
    for _ in 0..effort.pick(3, 15) {
        let empty = tempfile::tempdir()?;
        prepare(empty.path(), SCRIPT)?;
        fresh.round(empty.path()).await?;
        laden.round(full.path()).await?;
        let begin = Instant::now();
        let limit = limits::start("held", &[])?;
        sse(limit.address, "/").await?;
        bare.push(millis(begin));
        work.push(limits::spin()?);
    }
    let more = |of: fn(&Samples) -> &Vec<f64>| median(of(&laden)) - median(of(&fresh));
    #[expect(clippy::cast_precision_loss, reason = "bytes far below 2^52")]
    let size = binary_size()? as f64 / 1e6;
    let with = |figure: &str| format!("{figure}, {stored} sessions stored");
    Ok(vec![
        Row::at_most(
            "start until /readyz answers",
            median(&fresh.ready),
            Some(median(&bare)),
            "ms",
            20.0,
        ),
        Row::compared(
            "start until /readyz answers, CPU, beside a fixed amount of work",
            median(&fresh.cpu),
            median(&work),
            "ms",
        ),
        Row::at_most(
            "start until the first token",
            median(&fresh.token),
            None,
            "ms",
            100.0,
        ),
        Row::at_most(
            &with("more until /readyz answers"),
            more(|samples| &samples.ready),
            None,
            "ms",
            50.0,
        ),
        Row::at_most(
            &with("more until the first token"),
            more(|samples| &samples.token),
            None,
            "ms",
            50.0,
        ),
        Row::at_most("memory at rest", median(&fresh.memory), None, "MB", 30.0),
        Row::at_most(
            &with("memory at rest"),
            median(&laden.memory),
            None,
            "MB",
            30.0,
        ),
        Row::at_most("size of the binary", size, None, "MB", 25.0),
    ])
}

#[derive(Default)]
struct Samples {
    ready: Vec<f64>,
    /// Milliseconds of CPU until then.
    cpu: Vec<f64>,
    token: Vec<f64>,
    memory: Vec<f64>,
}

impl Samples {
    #[expect(clippy::cast_precision_loss, reason = "bytes far below 2^52")]
    async fn round(&mut self, data: &Path) -> anyhow::Result<()> {
        let begin = Instant::now();
        let process = Gangway::on(data, None)?;
        let mut connection = Connection::open(process.address).await?;
        let (status, _) = connection.request("GET", "/readyz", "").await?;
        anyhow::ensure!(status == 200, "not ready: {status}");
        self.ready.push(millis(begin));
        self.cpu.push(process.cpu()?.as_secs_f64() * 1e3);
        tokio::time::sleep(Duration::from_millis(50)).await;
        self.memory.push(process.memory()? as f64 / 1e6);
        let asked = Instant::now();
        first_token(&process, &mut connection).await?;
        let last = self.ready.last().copied().unwrap_or_default();
        self.token.push(last + millis(asked));
        Ok(())
    }
}

/// Makes a session, says something and waits for the first piece of the answer.
async fn first_token(process: &Measured, connection: &mut Connection) -> anyhow::Result<()> {
    let session = new_session(connection).await?;
    say(connection, &session, "hello").await?;
    let (mut stream, mut seen) = sse(process.address, &feed(&session)).await?;
    while find(&seen, b"event: assistant.message_delta").is_none() {
        let read = tokio::io::AsyncReadExt::read_buf(&mut stream, &mut seen).await?;
        anyhow::ensure!(read > 0, "the feed ended");
    }
    Ok(())
}

async fn fill(folder: &Path, sessions: usize) -> anyhow::Result<()> {
    let agents = BTreeMap::from([(
        "scripted".to_owned(),
        Arc::new(Scripted::parse("bench", SCRIPT)?) as _,
    )]);
    let hub = Hub::new(
        Store::open(folder)?,
        Agents::new(agents, "scripted")?,
        Limits::default(),
    );
    for begin in (0..sessions).step_by(TOGETHER) {
        let creates = (begin..sessions.min(begin + TOGETHER)).map(|number| {
            let request = NewSession {
                title: Some(format!("Session {number}")),
                cwd: folder.display().to_string(),
                ..NewSession::default()
            };
            hub.create(SessionId::new(), request)
        });
        try_join_all(creates).await?;
    }
    Ok(())
}

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}
