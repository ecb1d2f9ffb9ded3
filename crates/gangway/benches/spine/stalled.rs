//! What readers that do not read cost the healthy ones beside them, in delay and in memory.

use std::time::{Duration, Instant};

use futures_util::future::try_join_all;

use crate::{
    Effort,
    latency::Marks,
    median::{median, quantile},
    model::{Model, Plan},
    server::{Gangway, feed, new_session, say},
    table::Row,
    wire::{sse, stalled},
};

const STALLED: usize = 4;
const HEALTHY: usize = 8;

/// One session after another says 4 MB, as much as a message may well be; together they say 64 MB.
const TOKEN_BYTES: usize = 16 << 10;
const TOKENS: usize = 256;

/// The same with and without readers that stall.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let plan = Plan {
        tokens: TOKENS,
        // Slow enough for a driver that must read eight times as much on one core.
        every: Duration::from_millis(4),
        bytes: TOKEN_BYTES,
        epoch: Instant::now(),
    };
    let model = Model::start(plan).await?;
    let sessions = effort.pick(4, 16);
    let (mut alone, mut beside) = (Samples::default(), Samples::default());
    for _ in 0..effort.pick(1, 3) {
        alone.round(&model, plan, sessions, 0).await?;
        beside.round(&model, plan, sessions, STALLED).await?;
    }
    let turns = effort.pick(16, 64);
    let (beside_grown, alone_grown) = (growth(turns, STALLED).await?, growth(turns, 0).await?);
    Ok(vec![
        Row::at_most_times(
            "8 healthy readers beside 4 stalled, 64 MB, p99",
            median(&beside.lags),
            median(&alone.lags),
            "µs",
            2.0,
        ),
        Row::at_most(
            "memory that 4 stalled readers add while 64 MB pass",
            beside_grown - alone_grown,
            None,
            "MiB",
            8.0,
        ),
        Row::compared(
            "peak memory while 64 MB pass, with and without",
            beside_grown,
            alone_grown,
            "MiB",
        ),
    ])
}

#[derive(Default)]
struct Samples {
    lags: Vec<f64>,
}

impl Samples {
    async fn round(
        &mut self,
        model: &Model,
        plan: Plan,
        sessions: usize,
        stalling: usize,
    ) -> anyhow::Result<()> {
        let gangway = Gangway::with_model(model.address)?;
        let address = gangway.process.address;
        let mut lags = Vec::new();
        for _ in 0..sessions {
            let mut caller = gangway.connect().await?;
            let session = new_session(&mut caller).await?;
            let path = feed(&session);
            // Held until everything is sent, so that they stall instead of disconnecting.
            let mut stuck = Vec::new();
            for _ in 0..stalling {
                stuck.push(stalled(address, &path).await?);
            }
            let mut readers = Vec::new();
            for _ in 0..HEALTHY {
                readers.push(Marks::new(sse(address, &path).await?, plan.epoch));
            }
            say(&mut caller, &session, "hello").await?;
            let read = readers.iter_mut().map(|reader| async {
                let (lags, _) = reader.read(plan.tokens).await?;
                reader.drain(b"event: done").await?;
                anyhow::Ok(lags)
            });
            lags.extend(try_join_all(read).await?.into_iter().flatten());
        }
        self.lags.push(quantile(&lags, 0.99));
        Ok(())
    }
}

/// The peak memory growth of the server in MiB while a session streams a megabyte in each of this many turns.
#[expect(clippy::cast_precision_loss, reason = "bytes far below 2^52")]
async fn growth(turns: usize, stalling: usize) -> anyhow::Result<f64> {
    // Half of the megabyte are tokens, half the message that stands for them.
    let token = "x".repeat(TOKEN_BYTES);
    let script = format!("turns: [{{steps: [{{delta: '{token}', times: 32, every_ms: 2}}]}}]\n");
    let gangway = Gangway::scripted(&script)?;
    let address = gangway.process.address;
    let mut caller = gangway.connect().await?;
    let session = new_session(&mut caller).await?;
    let path = feed(&session);
    let mut stuck = Vec::new();
    for _ in 0..stalling {
        stuck.push(stalled(address, &path).await?);
    }
    let mut readers = Vec::new();
    for _ in 0..HEALTHY {
        readers.push(Marks::new(sse(address, &path).await?, Instant::now()));
    }
    let before = gangway.process.memory()?;
    for _ in 0..turns {
        say(&mut caller, &session, "hello").await?;
        try_join_all(
            readers
                .iter_mut()
                .map(|reader| reader.drain(b"event: done")),
        )
        .await?;
    }
    let peak = gangway.process.peak_memory()?;
    Ok(peak.saturating_sub(before) as f64 / f64::from(1 << 20))
}
