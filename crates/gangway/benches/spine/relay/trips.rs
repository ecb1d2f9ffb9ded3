//! From an agent to a page and back, with a study session open: ours, the barest relay, and one in Node.

use std::{path::Path, time::Duration};

use super::{
    nats::Nats,
    pairs::{Door, Pairs},
};
use crate::{
    Effort, limits,
    machine::{Measured, on_server_core},
    median::{median, quantile},
    readers::{Before, Samples},
    server::Gangway,
    table::Row,
};

/// What relays are built with in Node, as the web packages bring it.
pub const WS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/node_modules/ws");
const NODE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/benches/spine/limits/pairs.mjs"
);

const PAIRS: usize = 16;
const FLIGHT: u64 = 4;

/// 500 round trips a second.
const EVERY: Duration = Duration::from_millis(2);

/// At least three times less.
const NODE_BAR: f64 = 1.0 / 3.0;

/// Four relays in turn.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let gangway = Gangway::with_settings("")?;
    let bare = limits::start("pairs", &[])?;
    let mut ours = Side::new(&gangway.process, Door::Gangway).await?;
    let mut bare = Side::new(&bare, Door::InTurn).await?;
    let node = node();
    let mut node = match &node {
        Ok(node) => Ok(Side::new(node, Door::InTurn).await?),
        Err(error) => Err(error),
    };
    let nats = Nats::start().await;
    let mut nats = match &nats {
        Ok(nats) => Ok(Side::new(&nats.process, Door::Subjects).await?),
        Err(error) => Err(error),
    };
    // The first round passes unmeasured, above all for Node, which compiles what is hot.
    for round in 0..=effort.pick(2, 9) {
        let sides = [
            Some(&mut ours),
            Some(&mut bare),
            node.as_mut().ok(),
            nats.as_mut().ok(),
        ];
        for side in sides.into_iter().flatten() {
            side.round(effort, round > 0).await?;
        }
    }
    let mut rows = ours.beside(&bare);
    for (rival, side) in [("ws in Node", node), ("NATS", nats)] {
        match side {
            Ok(side) => rows.extend(ours.beside_rival(&side, rival)),
            Err(reason) => rows.push(Row::shown(
                &format!("relay round trips, against {rival}"),
                &format!("not measured: {reason:#}"),
                "–",
            )),
        }
    }
    Ok(rows)
}

fn node() -> anyhow::Result<Measured> {
    anyhow::ensure!(
        Path::new(WS).exists(),
        "it is not installed: scripts/setup.sh node-packages"
    );
    let mut command = on_server_core("node");
    command.args([NODE, WS]);
    Measured::start(command)
}

/// One relay, its clients, and what they saw.
struct Side<'a> {
    relay: &'a Measured,
    pairs: Pairs,
    busy: Samples,
    alone: Vec<f64>,
    paced: Vec<f64>,
}

impl<'a> Side<'a> {
    async fn new(relay: &'a Measured, door: Door) -> anyhow::Result<Self> {
        Ok(Self {
            relay,
            pairs: Pairs::open(relay, door, PAIRS).await?,
            busy: Samples::default(),
            alone: Vec::new(),
            paced: Vec::new(),
        })
    }

    async fn round(&mut self, effort: Effort, counts: bool) -> anyhow::Result<()> {
        let each = effort.pick(250, 1250);
        let mut samples = Samples::default();
        let before = Before::new(self.relay)?;
        self.pairs.many(each, FLIGHT).await?;
        before.end(&mut samples, self.relay, each * PAIRS as u64)?;
        let alone = self.pairs.one_by_one(effort.pick(100, 500)).await?;
        let paced = self.pairs.paced(EVERY, effort.pick(10, 60)).await?;
        if counts {
            self.busy.cpu.extend(samples.cpu);
            self.busy.rates.extend(samples.rates);
            self.alone.extend(alone);
            self.paced.extend(paced);
        }
        Ok(())
    }

    fn beside(&self, bare: &Self) -> Vec<Row> {
        let ([cpu, rate, alone, tail], [limit, most, least, short]) =
            (self.figures(), bare.figures());
        let busy = format!("relay round trips, {PAIRS} pairs × {FLIGHT} in flight");
        vec![
            Row::at_most_times(&format!("{busy}, CPU each"), cpu, limit, "µs", 2.0),
            Row::at_least_times("the same, round trips", rate, most, "/s", 0.6),
            Row::at_most_times(
                "a relay round trip, one at a time, p50",
                alone,
                least,
                "µs",
                1.3,
            ),
            Row::compared("relay round trips, 500 a second, p99", tail, short, "µs"),
        ]
    }

    fn beside_rival(&self, its: &Self, rival: &str) -> Vec<Row> {
        let ([cpu, rate, alone, tail], [its_cpu, its_rate, its_alone, its_tail]) =
            (self.figures(), its.figures());
        let busy = format!("{PAIRS} pairs × {FLIGHT} in flight, against {rival}, CPU each");
        let alone_row = format!("one at a time, against {rival}, p50");
        let tail_row = format!("500 a second, against {rival}, p99");
        let cpu_row = match rival {
            "NATS" => Row::compared(&busy, cpu, its_cpu, "µs"),
            _ => Row::at_most_times(&busy, cpu, its_cpu, "µs", NODE_BAR),
        };
        vec![
            cpu_row,
            Row::compared("the same, round trips", rate, its_rate, "/s"),
            Row::compared(&alone_row, alone, its_alone, "µs"),
            Row::compared(&tail_row, tail, its_tail, "µs"),
        ]
    }

    /// CPU of a round trip, round trips a second, the time of one alone, and the tail at a pace.
    fn figures(&self) -> [f64; 4] {
        [
            median(&self.busy.cpu),
            median(&self.busy.rates),
            median(&self.alone),
            quantile(&self.paced, 0.99),
        ]
    }
}
