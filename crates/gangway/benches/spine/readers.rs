//! Many readers of one stream that only count, what a delivery to them costs, and the same at its barest.

use std::{
    net::SocketAddr,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::tcp::{OwnedReadHalf, OwnedWriteHalf},
    task::JoinSet,
};

use crate::{
    frames::{Parser, masked},
    limits,
    machine::{Measured, on_server_core},
    median::median,
    relay::trips::WS,
    table::Row,
    wire::{Connection, sse, websocket},
};

/// Where the setup script puts socket.io.
const SOCKET_IO: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../target/socket-io/node_modules/socket.io"
);
const BROADCAST: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/benches/spine/limits/broadcast.mjs"
);

/// How readers are connected.
#[derive(Clone, Copy)]
pub enum Wire {
    /// Server-sent events.
    Sse,
    /// A WebSocket.
    WebSocket,
}

impl Wire {
    /// Frames that a new reader of a new session is sent: its making, and on SSE the pause before reconnecting.
    pub fn opening(self) -> u64 {
        match self {
            Self::Sse => 2,
            Self::WebSocket => 1,
        }
    }

    /// Frames of a turn that are not tokens: the message accepted, the turn begun, the whole message, the end; on SSE
    /// also that the session rests.
    pub fn around(self) -> u64 {
        match self {
            Self::Sse => 5,
            Self::WebSocket => 4,
        }
    }
}

/// What rounds of one side cost.
#[derive(Default)]
pub struct Samples {
    /// Microseconds of CPU a delivery.
    pub cpu: Vec<f64>,
    /// Deliveries a second.
    pub rates: Vec<f64>,
}

impl Samples {
    /// CPU a delivery beside the limit's.
    pub fn cpu_row(&self, figure: &str, limit: &Self, bar: f64) -> Row {
        let figure = format!("{figure}, CPU a delivery");
        Row::at_most_times(&figure, median(&self.cpu), median(&limit.cpu), "µs", bar)
    }

    /// The same without a bar.
    pub fn compared_row(&self, figure: &str, other: &Self) -> Row {
        let figure = format!("{figure}, CPU a delivery");
        Row::compared(&figure, median(&self.cpu), median(&other.cpu), "µs")
    }
}

/// The same stream from a part of this program that does nothing else, or from another server.
pub struct Bare {
    limit: Measured,
    readers: Readers,
    /// What its rounds cost.
    pub samples: Samples,
}

impl Bare {
    /// With this many readers.
    pub async fn start(readers: usize) -> anyhow::Result<Self> {
        let limit = limits::start("feed", &[])?;
        let readers = Readers::open(limit.address, "/feed", Wire::Sse, readers).await?;
        Ok(Self {
            limit,
            readers,
            samples: Samples::default(),
        })
    }

    /// With this many WebSockets, by what people build it with in Node: `ws` or `socket.io`.
    pub async fn node(library: &str, readers: usize) -> anyhow::Result<Self> {
        let (package, path) = match library {
            "ws" => (WS, "/"),
            _ => (SOCKET_IO, "/socket.io/?EIO=4&transport=websocket"),
        };
        anyhow::ensure!(
            Path::new(package).exists(),
            "it is not installed: scripts/setup.sh socket-io"
        );
        let mut command = on_server_core("node");
        command.args([BROADCAST, library, package]);
        let limit = Measured::start(command)?;
        let mut readers = Readers::open(limit.address, path, Wire::WebSocket, readers).await?;
        if package == SOCKET_IO {
            // Joins the default namespace.
            readers.wait_for(1).await?;
            for writer in &mut readers.writers {
                writer.write_all(&masked("40")).await?;
            }
            readers.wait_for(2).await?;
        }
        Ok(Self {
            limit,
            readers,
            samples: Samples::default(),
        })
    }

    /// This many tokens, with this time between them.
    pub async fn round(&mut self, tokens: u64, pace: Duration) -> anyhow::Result<()> {
        let before = Before::new(&self.limit)?;
        let seen = self.readers.each();
        let mut go = Connection::open(self.limit.address).await?;
        let path = format!("/go/{tokens}/{}", pace.as_micros());
        go.request("GET", &path, "").await?;
        self.readers.wait_for(seen + tokens).await?;
        let deliveries = tokens * self.readers.count;
        before.end(&mut self.samples, &self.limit, deliveries)
    }
}

/// The moment before a round.
pub struct Before {
    begin: Instant,
    cpu: Duration,
}

impl Before {
    /// Now.
    pub fn new(server: &Measured) -> anyhow::Result<Self> {
        Ok(Self {
            begin: Instant::now(),
            cpu: server.cpu()?,
        })
    }

    /// The round is over, and this much came to readers.
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    pub fn end(
        self,
        samples: &mut Samples,
        server: &Measured,
        deliveries: u64,
    ) -> anyhow::Result<()> {
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
pub struct Readers {
    /// How many.
    pub count: u64,
    /// Where each may write.
    pub writers: Vec<OwnedWriteHalf>,
    frames: Arc<AtomicU64>,
    tasks: JoinSet<()>,
}

impl Readers {
    /// Opens this many.
    pub async fn open(
        address: SocketAddr,
        path: &str,
        wire: Wire,
        count: usize,
    ) -> anyhow::Result<Self> {
        let frames = Arc::new(AtomicU64::new(0));
        let (mut tasks, mut writers) = (JoinSet::new(), Vec::new());
        for _ in 0..count {
            let (stream, first) = match wire {
                Wire::Sse => sse(address, path).await?,
                Wire::WebSocket => websocket(address, path).await?,
            };
            let (stream, writer) = stream.into_split();
            writers.push(writer);
            tasks.spawn(read(stream, first, wire, Arc::clone(&frames)));
        }
        Ok(Self {
            count: count as u64,
            writers,
            frames,
            tasks,
        })
    }

    /// Frames that all of them have seen together.
    pub fn total(&self) -> u64 {
        self.frames.load(Ordering::Relaxed)
    }

    /// Frames that each reader has seen, when all have seen the same.
    pub fn each(&self) -> u64 {
        self.frames.load(Ordering::Relaxed) / self.count
    }

    /// Waits until each has seen this many.
    pub async fn wait_for(&self, each: u64) -> anyhow::Result<()> {
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

async fn read(mut stream: OwnedReadHalf, first: Vec<u8>, wire: Wire, frames: Arc<AtomicU64>) {
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
    parser: Parser,
}

impl Counter {
    fn count(&mut self, wire: Wire, bytes: &[u8]) -> u64 {
        let mut found = 0;
        match wire {
            Wire::Sse => {
                for byte in bytes {
                    let is_break = *byte == b'\n';
                    found += u64::from(is_break && self.after_break);
                    self.after_break = is_break;
                }
            }
            Wire::WebSocket => self.parser.push(bytes, |_, _| found += 1),
        }
        found
    }
}
