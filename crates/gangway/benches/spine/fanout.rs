//! One stream of tokens to many readers: CPU a delivery of the server, at full speed and paced.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{io::AsyncReadExt, net::TcpStream, task::JoinSet};

use crate::{
    Effort, limits,
    machine::Measured,
    median::median,
    server::{Gangway, feed, new_session, say},
    table::Row,
    wire::{Connection, sse, websocket},
};

/// How readers are connected.
#[derive(Clone, Copy)]
enum Wire {
    Sse,
    WebSocket,
}

impl Wire {
    /// Frames that a new reader of a new session is sent: its making, and on SSE the pause before reconnecting.
    fn opening(self) -> u64 {
        match self {
            Self::Sse => 2,
            Self::WebSocket => 1,
        }
    }

    /// Frames of a turn that are not tokens: the message accepted, the turn begun, the whole message, the end; on SSE
    /// also that the session rests.
    fn around(self) -> u64 {
        match self {
            Self::Sse => 5,
            Self::WebSocket => 4,
        }
    }
}

/// Fewer tokens than a session keeps in memory, so that nobody is cut off for being slow when all are.
const FAST_TOKENS: u64 = 2000;

/// Full speed to 500 readers on each wire, then 50 tokens a second to 200.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let paced_tokens = effort.pick(25, 150);
    let script = format!(
        "turns:
- when: fast
  steps: [{{delta: 'word ', times: {FAST_TOKENS}}}]
- steps: [{{delta: 'word ', times: {paced_tokens}, every_ms: 20}}]
"
    );
    let gangway = Gangway::scripted(&script)?;
    let limit = limits::start("feed", &[])?;
    let fast = |wire| Case {
        wire,
        readers: 500,
        tokens: FAST_TOKENS,
        pace: Duration::ZERO,
        rounds: effort.pick(2, 7),
    };
    let paced = Case {
        wire: Wire::Sse,
        readers: 200,
        tokens: paced_tokens,
        pace: Duration::from_millis(20),
        rounds: effort.pick(1, 3),
    };
    let (fast_ours, fast_limit) = fast(Wire::Sse).compare(&gangway, &limit).await?;
    // The limit keeps the readers of a case, so that each gets a new one.
    let limit = limits::start("feed", &[])?;
    let (socket_ours, socket_limit) = fast(Wire::WebSocket).compare(&gangway, &limit).await?;
    let limit = limits::start("feed", &[])?;
    let (paced_ours, paced_limit) = paced.compare(&gangway, &limit).await?;
    Ok(vec![
        Row::at_most_times(
            "one stream to 500 SSE readers, CPU a delivery",
            median(&fast_ours.cpu),
            median(&fast_limit.cpu),
            "µs",
            1.5,
        ),
        Row::compared(
            "one stream to 500 SSE readers, deliveries",
            median(&fast_ours.rates),
            median(&fast_limit.rates),
            "/s",
        ),
        Row::at_most_times(
            "one stream to 500 WebSockets, CPU a delivery",
            median(&socket_ours.cpu),
            median(&socket_limit.cpu),
            "µs",
            2.0,
        ),
        Row::compared(
            "one stream to 500 WebSockets, deliveries",
            median(&socket_ours.rates),
            median(&socket_limit.rates),
            "/s",
        ),
        Row::at_most_times(
            "50 tokens/s to 200 SSE readers, CPU a delivery",
            median(&paced_ours.cpu),
            median(&paced_limit.cpu),
            "µs",
            1.5,
        ),
    ])
}

struct Case {
    wire: Wire,
    readers: usize,
    tokens: u64,
    pace: Duration,
    rounds: usize,
}

#[derive(Default)]
struct Samples {
    cpu: Vec<f64>,
    rates: Vec<f64>,
}

impl Case {
    async fn compare(
        &self,
        gangway: &Gangway,
        limit: &Measured,
    ) -> anyhow::Result<(Samples, Samples)> {
        let mut caller = gangway.connect().await?;
        let session = new_session(&mut caller).await?;
        let prompt = if self.pace.is_zero() { "fast" } else { "paced" };
        let address = gangway.process.address;
        let ours_readers = Readers::open(address, &feed(&session), self.wire, self.readers).await?;
        let limit_readers = Readers::open(limit.address, "/feed", Wire::Sse, self.readers).await?;
        let (mut ours, mut bare) = (Samples::default(), Samples::default());
        // The first message also names the session, which later ones do not: it passes unmeasured.
        let (opening, turn) = (self.wire.opening(), self.tokens + self.wire.around());
        ours_readers.wait_for(opening).await?;
        say(&mut caller, &session, prompt).await?;
        ours_readers.wait_for(opening + 1 + turn).await?;
        for _ in 0..self.rounds {
            let before = Before::new(&gangway.process)?;
            let seen = ours_readers.each();
            say(&mut caller, &session, prompt).await?;
            ours_readers.wait_for(seen + turn).await?;
            before.end(&mut ours, &gangway.process, turn * self.count())?;

            let before = Before::new(limit)?;
            let seen = limit_readers.each();
            let mut go = Connection::open(limit.address).await?;
            let path = format!("/go/{}/{}", self.tokens, self.pace.as_micros());
            go.request("GET", &path, "").await?;
            limit_readers.wait_for(seen + self.tokens).await?;
            before.end(&mut bare, limit, self.tokens * self.count())?;
        }
        Ok((ours, bare))
    }

    fn count(&self) -> u64 {
        self.readers as u64
    }
}

struct Before {
    begin: Instant,
    cpu: Duration,
}

impl Before {
    fn new(server: &Measured) -> anyhow::Result<Self> {
        Ok(Self {
            begin: Instant::now(),
            cpu: server.cpu()?,
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    fn end(self, samples: &mut Samples, server: &Measured, deliveries: u64) -> anyhow::Result<()> {
        let spent = server.cpu()?.saturating_sub(self.cpu);
        let deliveries = deliveries as f64;
        samples.cpu.push(spent.as_secs_f64() * 1e6 / deliveries);
        samples
            .rates
            .push(deliveries / self.begin.elapsed().as_secs_f64());
        Ok(())
    }
}

/// Readers that only count frames.
struct Readers {
    count: u64,
    frames: Arc<AtomicU64>,
    tasks: JoinSet<()>,
}

impl Readers {
    async fn open(
        address: SocketAddr,
        path: &str,
        wire: Wire,
        count: usize,
    ) -> anyhow::Result<Self> {
        let frames = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        for _ in 0..count {
            let (stream, first) = match wire {
                Wire::Sse => sse(address, path).await?,
                Wire::WebSocket => websocket(address, path).await?,
            };
            tasks.spawn(read(stream, first, wire, Arc::clone(&frames)));
        }
        Ok(Self {
            count: count as u64,
            frames,
            tasks,
        })
    }

    /// Frames that each reader has seen, when all have seen the same.
    fn each(&self) -> u64 {
        self.frames.load(Ordering::Relaxed) / self.count
    }

    async fn wait_for(&self, each: u64) -> anyhow::Result<()> {
        let begin = Instant::now();
        while self.frames.load(Ordering::Relaxed) < each * self.count {
            anyhow::ensure!(
                begin.elapsed() < Duration::from_secs(60),
                "after a minute {} of {} frames came to {} readers",
                self.frames.load(Ordering::Relaxed),
                each * self.count,
                self.tasks.len()
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(())
    }
}

async fn read(mut stream: TcpStream, first: Vec<u8>, wire: Wire, frames: Arc<AtomicU64>) {
    let mut buffer = vec![0; 16 << 10];
    let mut counter = Counter::default();
    frames.fetch_add(counter.count(wire, &first), Ordering::Relaxed);
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        frames.fetch_add(counter.count(wire, &buffer[..read]), Ordering::Relaxed);
    }
}

/// Counts frames that may lie across reads.
#[derive(Default)]
struct Counter {
    after_break: bool,
    head: Vec<u8>,
    body: usize,
}

impl Counter {
    fn count(&mut self, wire: Wire, bytes: &[u8]) -> u64 {
        match wire {
            Wire::Sse => self.blank_lines(bytes),
            Wire::WebSocket => self.messages(bytes),
        }
    }

    fn blank_lines(&mut self, bytes: &[u8]) -> u64 {
        let mut found = 0;
        for byte in bytes {
            let is_break = *byte == b'\n';
            found += u64::from(is_break && self.after_break);
            self.after_break = is_break;
        }
        found
    }

    fn messages(&mut self, mut bytes: &[u8]) -> u64 {
        let mut found = 0;
        while !bytes.is_empty() {
            let skipped = self.body.min(bytes.len());
            self.body -= skipped;
            bytes = &bytes[skipped..];
            while self.body == 0
                && let [next, rest @ ..] = bytes
            {
                self.head.push(*next);
                bytes = rest;
                // Two bytes, then as many of length as the second one says.
                self.body = match self.head.as_slice() {
                    [_, short] if *short < 126 => usize::from(*short),
                    [_, 126, high, low] => usize::from(u16::from_be_bytes([*high, *low])),
                    [_, 127, length @ ..] if length.len() == 8 => length
                        .iter()
                        .fold(0, |length, byte| (length << 8) | usize::from(*byte)),
                    _ => continue,
                };
                self.head.clear();
                found += 1;
            }
        }
        found
    }
}
