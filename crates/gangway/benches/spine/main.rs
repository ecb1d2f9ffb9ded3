//! `cargo bench -p gangway --bench spine`: what the real binary costs beside the least that the same result can cost.
//!
//! The server under test has core 0 to itself, this driver has core 1, and rounds of both sides are interleaved, so
//! that only ratios within one run count. A figure below its target is reported, never an error.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing a table is what this program is for"
)]

mod agents;
mod appends;
mod applet;
mod apps;
mod bridge;
mod creates;
mod direct;
mod embedded;
mod fanout;
mod frames;
mod gateways;
mod guard;
mod idle;
mod latency;
mod limits;
mod litellm;
mod machine;
mod mcp;
mod median;
mod model;
mod pages;
mod partner;
mod portkey;
mod proxy;
mod readers;
mod relay;
mod report;
mod server;
mod stalled;
mod start;
mod table;
mod tokens;
mod wire;

use std::{future::Future, pin::Pin};

use table::Row;

/// How long rounds are and which servers take part.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Short rounds, to see that everything works.
    pub quick: bool,
}

impl Effort {
    /// One of two amounts.
    pub fn pick<T>(self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }
}

type Rows = Pin<Box<dyn Future<Output = anyhow::Result<Vec<Row>>>>>;

type Measure = fn(Effort) -> Rows;

/// The groups of figures by the name that picks them.
const FIGURES: &[(&str, Measure)] = &[
    ("appends", |effort| Box::pin(appends::measure(effort))),
    ("creates", |effort| Box::pin(creates::measure(effort))),
    ("fanout", |effort| Box::pin(fanout::measure(effort))),
    ("idle", |effort| Box::pin(idle::measure(effort))),
    ("stalled", |effort| Box::pin(stalled::measure(effort))),
    ("tokens", |effort| Box::pin(tokens::measure(effort))),
    ("proxy", |effort| Box::pin(proxy::measure(effort))),
    ("applet", |effort| Box::pin(applet::measure(effort))),
    ("apps", |effort| Box::pin(apps::measure(effort))),
    ("pages", |effort| Box::pin(pages::measure(effort))),
    ("replay", |effort| Box::pin(pages::replay::measure(effort))),
    ("bridge", |effort| Box::pin(bridge::measure(effort))),
    ("extension", |effort| {
        Box::pin(pages::extension::measure(effort))
    }),
    ("agents", |effort| Box::pin(agents::measure(effort))),
    ("mcp", |effort| Box::pin(mcp::measure(effort))),
    ("relay", |effort| Box::pin(relay::measure(effort))),
    ("embedded", |effort| Box::pin(embedded::measure(effort))),
    ("start", |effort| Box::pin(start::measure(effort))),
];

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [part, rest @ ..] = arguments.as_slice()
        && let Some(name) = part.strip_prefix("--part=")
    {
        return limits::run(name, rest);
    }
    machine::pin_driver();
    let has = |option: &str| arguments.iter().any(|argument| argument == option);
    let effort = Effort {
        quick: has("--quick"),
    };
    let runs = arguments.iter().find_map(|a| a.strip_prefix("--runs="));
    let runs: usize = runs.map_or(Ok(1), str::parse)?;
    // Cargo adds options of its own; only plain words name figures.
    let wanted: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
    let unknown = |name: &&&String| FIGURES.iter().all(|(known, _)| known != **name);
    if let Some(name) = wanted.iter().find(unknown) {
        let names: Vec<_> = FIGURES.iter().map(|(name, _)| *name).collect();
        anyhow::bail!(
            "there is no figure {name:?}; there are {}",
            names.join(", ")
        );
    }
    // One thread: a second one would take the server's core.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    if has("--guard") {
        return guard::run(&runtime, has("--record"));
    }
    let mut groups = Vec::new();
    for (name, measure) in FIGURES {
        if wanted.is_empty() || wanted.iter().any(|wanted| *wanted == name) {
            let mut each = Vec::new();
            for run in 1..=runs {
                eprintln!("measuring {name}, run {run} of {runs} …");
                let measured = runtime.block_on(measure(effort));
                each.push(measured.unwrap_or_else(|error| vec![Row::broken(name, &error)]));
            }
            groups.push((*name, table::middles(each)));
        }
    }
    if has("--write") {
        report::write(&groups)?;
    }
    let rows: Vec<_> = groups.into_iter().flat_map(|(_, rows)| rows).collect();
    table::print(&rows);
    Ok(())
}
