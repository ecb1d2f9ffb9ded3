//! Round trips on the pipe to the browser, beside a host that does nothing but parse and answer.

use std::{
    io::{BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::Context;

use crate::{
    Effort, limits,
    machine::on_server_core,
    median::median,
    server::{Gangway, binary},
    table::Row,
};

/// Sizes of messages, what they are called, and how much of the limit is asked for: 50,000 and 5,000 a second were
/// promised where the limit did 118,000 and 12,600.
const SIZES: [(usize, &str, f64); 2] = [(256, "256 B", 0.42), (64 << 10, "64 KiB", 0.4)];

/// The bridge and the limit answer in turn, one message after another.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let gangway = Gangway::with_settings("models: {detect: false}\n")?;
    let mut ours = Host::start(bridge(gangway.data()))?;
    ours.hello()?;
    let mut bare = Host::start(limits::command("native", &[])?)?;
    let mut rows = Vec::new();
    for (size, name, bar) in SIZES {
        let (mut mine, mut least) = (Vec::new(), Vec::new());
        for _ in 0..effort.pick(3, 11) {
            let time = effort.pick(Duration::from_millis(100), Duration::from_secs(1));
            least.push(bare.round(size, time)?);
            mine.push(ours.round(size, time)?);
        }
        rows.push(Row::at_least_times(
            &format!("bridge, round trips of {name}"),
            median(&mine),
            median(&least),
            "/s",
            bar,
        ));
    }
    Ok(rows)
}

fn bridge(data: &Path) -> Command {
    let mut command = on_server_core(&binary());
    for (name, _) in std::env::vars() {
        if name.starts_with("GANGWAY_") || name.starts_with("OPENAI_") {
            command.env_remove(name);
        }
    }
    command.arg("bridge").arg("--data").arg(data);
    command
}

/// A native messaging host, killed when dropped.
struct Host {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    received: Vec<u8>,
}

impl Host {
    fn start(mut command: Command) -> anyhow::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {command:?}"))?;
        let to = child.stdin.take().context("its input")?;
        let from = child.stdout.take().context("its output")?;
        Ok(Self {
            child,
            to,
            from: BufReader::with_capacity(64 << 10, from),
            received: Vec::new(),
        })
    }

    /// Waits until it has a server and has said all it says of its own accord.
    fn hello(&mut self) -> anyhow::Result<()> {
        self.say(&frame(
            r#"{"type":"hello","request_id":"r0","protocol":1}"#,
        )?)?;
        for message in ["hello_result", "\"server\"", "\"permissions\""] {
            self.hear()?;
            let received = String::from_utf8_lossy(&self.received);
            anyhow::ensure!(received.contains(message), "it said {received}");
        }
        Ok(())
    }

    fn say(&mut self, frame: &[u8]) -> anyhow::Result<()> {
        self.to.write_all(frame)?;
        Ok(self.to.flush()?)
    }

    fn hear(&mut self) -> anyhow::Result<()> {
        let mut head = [0; 4];
        self.from.read_exact(&mut head)?;
        self.received
            .resize(usize::try_from(u32::from_ne_bytes(head))?, 0);
        Ok(self.from.read_exact(&mut self.received)?)
    }

    /// Round trips a second.
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    fn round(&mut self, size: usize, time: Duration) -> anyhow::Result<f64> {
        let around = r#"{"type":"ping","request_id":"r1","data":""}"#;
        let data = "x".repeat(size - around.len());
        let message = around.replace("\"\"}", &format!("\"{data}\"}}"));
        let message = frame(&message)?;
        let (begin, mut count) = (Instant::now(), 0_u64);
        while begin.elapsed() < time {
            self.say(&message)?;
            self.hear()?;
            count += 1;
        }
        anyhow::ensure!(self.received.starts_with(br#"{"type":"ping_result""#));
        Ok(count as f64 / begin.elapsed().as_secs_f64())
    }
}

fn frame(json: &str) -> anyhow::Result<Vec<u8>> {
    let length = u32::try_from(json.len())?;
    Ok([&length.to_ne_bytes()[..], json.as_bytes()].concat())
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
