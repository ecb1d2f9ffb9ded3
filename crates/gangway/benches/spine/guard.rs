//! `--guard`: costs that hardly depend on what else the machine does, beside those that were recorded. `--guard --record`
//! writes them down.

use std::{collections::BTreeMap, path::Path};

use anyhow::Context;

use crate::{Effort, Measure, applet::tabs, creates, fanout, idle, relay::trips, start, tokens};

const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/guard.txt");

/// How much worse than recorded is a failure.
const WORSE: f64 = 1.5;

/// A disturbed figure is measured again; one that got worse stays so.
const TRIES: usize = 3;

/// What is measured, and the beginnings of the figures that are judged.
const GROUPS: &[(Measure, &[&str])] = &[
    (
        |effort| Box::pin(start::measure(effort)),
        &["start until /readyz answers, CPU"],
    ),
    (
        |effort| Box::pin(tokens::measure(effort)),
        &["a token through a session, CPU"],
    ),
    (
        |effort| Box::pin(fanout::paced(effort)),
        &["50 tokens/s to 200 SSE readers"],
    ),
    (
        |effort| Box::pin(tabs::measure(effort)),
        &["50 changes/s to 200 tabs", "memory of an idle tab"],
    ),
    (
        |effort| Box::pin(trips::measure(effort)),
        &["relay round trips, 16 pairs × 4 in flight, CPU"],
    ),
    (
        |effort| Box::pin(creates::measure(effort)),
        &["durable creates, CPU"],
    ),
    (
        |effort| Box::pin(idle::measure(effort)),
        &["memory of an idle SSE", "memory of an idle WebSocket"],
    ),
];

/// Compares with what is recorded, or records.
pub fn run(runtime: &tokio::runtime::Runtime, record: bool) -> anyhow::Result<()> {
    let recorded = if record { BTreeMap::new() } else { read()? };
    let mut measured = BTreeMap::new();
    for (measure, figures) in GROUPS {
        for _ in 0..TRIES {
            let rows = runtime.block_on(measure(Effort { quick: true }))?;
            let mut worse = false;
            for figure in *figures {
                let row = rows.iter().find(|row| row.figure.starts_with(figure));
                let row = row.with_context(|| format!("no row begins with {figure:?}"))?;
                let best = measured.entry(*figure).or_insert(row.value);
                *best = row.value.min(*best);
                worse |= recorded.get(*figure).is_some_and(|was| *best > was * WORSE);
            }
            // Recorded is the best of all tries, so that luck does not decide.
            if !worse && !record {
                break;
            }
        }
    }
    if record {
        let lines = measured
            .iter()
            .map(|(figure, value)| format!("{value:.3}\t{figure}\n"));
        return Ok(std::fs::write(RECORD, lines.collect::<String>())?);
    }
    let mut failed = false;
    for (figure, value) in measured {
        let was = recorded.get(figure);
        let was = was.with_context(|| format!("{figure:?} is not in {RECORD}; record it"))?;
        let worse = value > was * WORSE;
        failed |= worse;
        let verdict = if worse {
            "FAILED: more than"
        } else {
            "at most"
        };
        println!("{figure}: {value:.2}, recorded {was:.2}: {verdict} {WORSE} times");
    }
    anyhow::ensure!(
        !failed,
        "a hot path costs more than {WORSE} times what is recorded in {RECORD}"
    );
    Ok(())
}

fn read() -> anyhow::Result<BTreeMap<String, f64>> {
    let text = std::fs::read_to_string(Path::new(RECORD))?;
    let line = |line: &str| {
        let (value, figure) = line.split_once('\t').context(line.to_owned())?;
        Ok((figure.to_owned(), value.parse()?))
    };
    text.lines().map(line).collect()
}
