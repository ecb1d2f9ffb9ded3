//! What Gangway adds to a call of a tool, beside the same server asked directly and beside gateways of others.

use std::time::{Duration, Instant};

use futures_util::future::try_join_all;

use crate::{
    Effort,
    direct::{Direct, InProcess},
    gateways::{self, Caller, Way, all_ready},
    machine::Measured,
    median::{median, quantile},
    server::Gangway,
    table::Row,
};

/// How far below the gateways of others ours is to be.
const BELOW: f64 = 0.33;

/// Callers at once where CPU is counted.
const CALLERS: usize = 8;

/// Calls of each of them in one round.
const EACH: usize = 100;

/// Servers that are held in the row about memory.
const HELD: usize = 50;

/// The server itself, the host in this process, Gangway over HTTP and the gateways of others in turn.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let mut direct = Direct::start().await?;
    let host = InProcess::start().await?;
    let gangway = Gangway::with_settings(&settings(1)?)?;
    all_ready(&gangway.process, 1).await?;
    let address = gangway.process.address;
    let mut ways = vec![
        Gateway::ours("POST /api/tools/call", Way::rest(address)).await?,
        Gateway::ours("/mcp", Way::streamable(address, "/mcp/echo").await?).await?,
        Gateway::theirs("mcp-proxy", gateways::mcp_proxy().await).await?,
        Gateway::theirs("supergateway", gateways::supergateway().await).await?,
    ];
    let (mut bare, mut inside) = (Vec::new(), Vec::new());
    for round in 0..effort.pick(5, 41) {
        // The first round warms up.
        let keep = round > 0;
        timed(&mut bare, keep, async || direct.call().await).await?;
        timed(&mut inside, keep, async || host.call().await).await?;
        for way in &mut ways {
            way.round(keep).await?;
        }
    }
    for _ in 0..effort.pick(1, 5) {
        for way in &mut ways {
            way.crowd(&gangway.process).await?;
        }
    }
    let base = median(&bare);
    let mut rows = vec![
        Row::shown(
            "a tool call, server asked directly, p50",
            &crate::table::amount(base, "µs"),
            "–",
        ),
        Row::at_most(
            "a tool call in process, added p50",
            median(&inside) - base,
            None,
            "µs",
            250.0,
        ),
    ];
    rows.extend(compared(&ways, base));
    drop((ways, gangway));
    rows.push(held().await?);
    Ok(rows)
}

fn compared(ways: &[Gateway], base: f64) -> Vec<Row> {
    let mut rows = Vec::new();
    let (ours, others): (Vec<_>, Vec<_>) =
        ways.iter().partition(|way| matches!(way.process, Ok(None)));
    for own in ours {
        let (name, added) = (own.name, own.added(base));
        rows.push(Row::at_most(
            &format!("{name}, added p50"),
            added,
            None,
            "µs",
            250.0,
        ));
        rows.push(Row::shown(
            &format!("{name}, whole way, p99"),
            &crate::table::amount(quantile(&own.samples, 0.99), "µs"),
            "–",
        ));
        for other in &others {
            match &other.process {
                Ok(_) => rows.extend([
                    Row::at_most_times(
                        &format!("{name}, added p50, against {}", other.name),
                        added,
                        other.added(base),
                        "µs",
                        BELOW,
                    ),
                    Row::at_most_times(
                        &format!("{name}, CPU a call, against {}", other.name),
                        median(&own.cpu),
                        median(&other.cpu),
                        "µs",
                        BELOW,
                    ),
                ]),
                Err(reason) => rows.push(Row::shown(
                    &format!("{name}, against {}", other.name),
                    &format!("not measured: {reason:#}"),
                    "–",
                )),
            }
        }
    }
    rows
}

/// One way over HTTP and what was seen on it.
struct Gateway {
    name: &'static str,
    /// The process of others; none for Gangway, which has several ways.
    process: anyhow::Result<Option<Measured>>,
    callers: Vec<Caller>,
    /// Microseconds of single calls.
    samples: Vec<f64>,
    /// Microseconds of CPU a call in each crowded round.
    cpu: Vec<f64>,
}

impl Gateway {
    async fn ours(name: &'static str, way: Way) -> anyhow::Result<Self> {
        Self::new(name, Ok(None), Some(way)).await
    }

    async fn theirs(
        name: &'static str,
        started: anyhow::Result<(Measured, Way)>,
    ) -> anyhow::Result<Self> {
        match started {
            Ok((process, way)) => Self::new(name, Ok(Some(process)), Some(way)).await,
            Err(reason) => Self::new(name, Err(reason), None).await,
        }
    }

    async fn new(
        name: &'static str,
        process: anyhow::Result<Option<Measured>>,
        way: Option<Way>,
    ) -> anyhow::Result<Self> {
        let mut callers = Vec::new();
        for (number, way) in way.iter().cycle().take(CALLERS).enumerate() {
            callers.push(way.caller(number).await?);
        }
        Ok(Self {
            name,
            process,
            callers,
            samples: Vec::new(),
            cpu: Vec::new(),
        })
    }

    fn added(&self, base: f64) -> f64 {
        median(&self.samples) - base
    }

    /// One caller, one call after another.
    async fn round(&mut self, keep: bool) -> anyhow::Result<()> {
        match self.callers.first_mut() {
            Some(caller) => timed(&mut self.samples, keep, async || caller.call().await).await,
            None => Ok(()),
        }
    }

    /// All callers at once.
    #[expect(clippy::cast_precision_loss, reason = "a few thousand calls")]
    async fn crowd(&mut self, gangway: &Measured) -> anyhow::Result<()> {
        let Ok(process) = &self.process else {
            return Ok(());
        };
        let process = process.as_ref().unwrap_or(gangway);
        let before = process.cpu()?;
        let calls = self.callers.iter_mut().map(async |caller| {
            for _ in 0..EACH {
                caller.call().await?;
            }
            anyhow::Ok(())
        });
        try_join_all(calls).await?;
        let spent = (process.cpu()? - before).as_secs_f64() * 1e6;
        self.cpu.push(spent / (CALLERS * EACH) as f64);
        Ok(())
    }
}

/// Calls in a row, with the time of each in microseconds.
async fn timed(
    samples: &mut Vec<f64>,
    keep: bool,
    mut call: impl AsyncFnMut() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for _ in 0..50 {
        let begin = Instant::now();
        call().await?;
        if keep {
            samples.push(begin.elapsed().as_secs_f64() * 1e6);
        }
    }
    Ok(())
}

/// Settings with this many bare servers, the first of them `echo`, and no limits that the benchmark would reach.
pub fn settings(count: usize) -> anyhow::Result<String> {
    let [program, part] = gateways::server()?;
    let mut text = "tools:\n  at_once: 64\nmcp_servers:\n".to_owned();
    for number in 0..count {
        let name = match number {
            0 => "echo".to_owned(),
            _ => format!("echo{number}"),
        };
        text += &format!("  {name}: {{ command: {program:?}, args: [{part:?}] }}\n");
    }
    Ok(text)
}

/// Memory of Gangway with many servers that do nothing.
#[expect(clippy::cast_precision_loss, reason = "bytes far below 2^52")]
async fn held() -> anyhow::Result<Row> {
    let memory = async |count: usize| {
        let gangway = Gangway::with_settings(&settings(count)?)?;
        all_ready(&gangway.process, count).await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
        anyhow::Ok(gangway.process.memory()? as f64 / 1e6)
    };
    let (one, all) = (memory(1).await?, memory(HELD).await?);
    let figure = format!("memory with {HELD} idle MCP servers; with one");
    Ok(Row::at_most(&figure, all, Some(one), "MB", 60.0))
}
