//! How fast our engine reads and writes beside llama.cpp by its own plain API, on the same weights and threads.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::{
    Effort,
    median::median,
    partner::{Partner, Served},
    table::Row,
};

/// The room for conversations that everyone gets.
pub const WINDOW: u32 = 8192;

/// All run on the server's core, so one computes.
pub const THREADS: usize = 1;

/// The least share of llama.cpp's own speed when it generates.
const WRITING_BAR: f64 = 1.0;
/// The same when it reads a prompt.
const READING_BAR: f64 = 0.85;
/// The least share of the speed of llama.cpp from Node.
const NODE_BAR: f64 = 0.8;

/// A question.
#[derive(Serialize, Deserialize)]
pub struct Asked {
    /// The system prompt.
    pub system: String,
    /// What it is asked.
    pub user: String,
    /// Maximum number of output tokens.
    pub tokens: usize,
}

/// One measured answer.
#[derive(Serialize, Deserialize)]
pub struct Run {
    /// Tokens of the prompt.
    pub read: usize,
    /// Tokens of the answer.
    pub written: usize,
    /// Seconds until the first.
    pub first: f64,
    /// Seconds from it to the last.
    pub rest: f64,
}

impl Run {
    /// From the times of the first and the last token.
    pub fn new(read: usize, written: usize, first: Duration, last: Duration) -> Self {
        Self {
            read,
            written,
            first: first.as_secs_f64(),
            rest: (last - first).as_secs_f64(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "tokens of one answer")]
    fn reading(&self) -> f64 {
        self.read as f64 / self.first
    }

    #[expect(clippy::cast_precision_loss, reason = "tokens of one answer")]
    fn writing(&self) -> f64 {
        (self.written - 1) as f64 / self.rest
    }
}

/// What one side did in all rounds.
#[derive(Default)]
struct Side {
    short: Vec<Run>,
    long: Vec<Run>,
    memory: f64,
}

type Figure = fn(&Side) -> Vec<f64>;

const WRITING: Figure = |side| side.short.iter().map(Run::writing).collect();
const WRITING_ON: Figure = |side| side.long.iter().map(Run::writing).collect();
const READING: Figure = |side| side.long.iter().map(Run::reading).collect();
const FIRST: Figure = |side| side.short.iter().map(|run| run.first * 1000.0).collect();

/// llama.cpp, our engine without a server, ours behind the server's `/v1`, and llama.cpp from Node, in turn.
pub async fn measure(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let weights = weights()?;
    let store = tempfile::tempdir()?;
    std::fs::copy(&weights, store.path().join("model.gguf"))?;
    let mut bare = Partner::bare(&weights)?;
    let mut ours = Partner::ours(store.path())?;
    let mut served = Served::start(&weights)?;
    let mut node = Partner::node(&weights);
    let [mut limit, mut inside, mut door, mut rival] = [(); 4].map(|()| Side::default());
    let (short, long) = (effort.pick(16, 64), effort.pick(8, 32));
    // The first questions pass unmeasured: they load the weights.
    for round in 0..=effort.pick(2, 7) {
        for (words, tokens) in [(1, short), (64, long)] {
            let asked = question(round, words, tokens);
            let mut runs = vec![
                (&mut limit, bare.ask(&asked)?),
                (&mut inside, ours.ask(&asked)?),
                (&mut door, served.ask(&asked).await?),
            ];
            if let Ok(node) = &mut node {
                runs.push((&mut rival, node.ask(&asked)?));
            }
            for (side, run) in runs.into_iter().filter(|_| round > 0) {
                anyhow::ensure!(run.written > 4, "an answer of {} tokens", run.written);
                let kind = if words == 1 {
                    &mut side.short
                } else {
                    &mut side.long
                };
                kind.push(run);
            }
        }
    }
    limit.memory = bare.memory()?;
    inside.memory = ours.memory()?;
    door.memory = served.memory()?;
    let read = inside.long.first().map_or(0, |run| run.read);
    let theirs = limit.long.first().map_or(0, |run| run.read);
    anyhow::ensure!(
        read.abs_diff(theirs) < 8,
        "prompts of {read} and {theirs} tokens"
    );
    let reading = format!("reading a prompt of {read} tokens");
    let after = format!("writing after {read} tokens");
    let mut rows = vec![
        against(
            "writing, engine alone",
            &inside,
            &limit,
            WRITING,
            WRITING_BAR,
        ),
        against("writing, through /v1", &door, &limit, WRITING, WRITING_BAR),
        against(
            &format!("{after}, through /v1"),
            &door,
            &limit,
            WRITING_ON,
            WRITING_BAR,
        ),
        against(
            &format!("{reading}, engine alone"),
            &inside,
            &limit,
            READING,
            READING_BAR,
        ),
        against(
            &format!("{reading}, through /v1"),
            &door,
            &limit,
            READING,
            READING_BAR,
        ),
        compared(
            "first token of a short prompt, engine alone",
            &inside,
            &limit,
        ),
        compared("first token of a short prompt, through /v1", &door, &limit),
        Row::compared(
            "memory of the engine's process",
            inside.memory,
            limit.memory,
            "MB",
        ),
        Row::compared(
            "memory of the server with the model",
            door.memory,
            limit.memory,
            "MB",
        ),
    ];
    match &mut node {
        Ok(node) => {
            rival.memory = node.memory()?;
            rows.extend([
                against(
                    "writing, against llama.cpp from Node",
                    &inside,
                    &rival,
                    WRITING,
                    NODE_BAR,
                ),
                against(
                    &format!("{reading}, the same"),
                    &inside,
                    &rival,
                    READING,
                    NODE_BAR,
                ),
                Row::compared("memory, the same", inside.memory, rival.memory, "MB"),
            ]);
        }
        Err(error) => rows.push(Row::shown(
            "against llama.cpp from Node",
            &format!("not measured: {error:#}"),
            "–",
        )),
    }
    Ok(rows)
}

/// A prompt with a beginning of its own, so that nothing of it is known from before.
fn question(round: usize, words: usize, tokens: usize) -> Asked {
    Asked {
        system: format!("{round}{words} You tell stories."),
        user: format!(
            "{}Write a long story about it.",
            "The ship sails on the sea. ".repeat(words)
        ),
        tokens,
    }
}

/// The middle of each side, and the middle of the ratios of single rounds: a neighbour that disturbs one round
/// disturbs both sides of it.
fn against(figure: &str, ours: &Side, limit: &Side, of: Figure, bar: f64) -> Row {
    let ratio = median(&ratios(ours, limit, of));
    let (ours, limit) = (median(&of(ours)), median(&of(limit)));
    Row::at_least_ratio(figure, (ours, limit), ratio, "tok/s", bar)
}

fn compared(figure: &str, ours: &Side, limit: &Side) -> Row {
    Row::compared(figure, median(&FIRST(ours)), median(&FIRST(limit)), "ms")
}

fn ratios(ours: &Side, limit: &Side, of: Figure) -> Vec<f64> {
    let pairs = of(ours).into_iter().zip(of(limit));
    pairs.map(|(ours, limit)| ours / limit).collect()
}

/// The weights of the tests.
fn weights() -> anyhow::Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let usual = root.join("target/test-weights/smollm2-135m-instruct.gguf");
    let file = std::env::var_os("GANGWAY_TEST_WEIGHTS").map_or(usual, PathBuf::from);
    let file = file.canonicalize();
    file.context("there are no weights: scripts/setup.sh weights")
}
