//! Reports how fast a model runs here: `cargo run --release -p gangway-embedded --example speed -- FOLDER [NAME]`.

use std::{error::Error, io::Write as _, path::Path, time::Instant};

use futures_util::StreamExt as _;
use gangway_embedded::{Embedded, Settings};
use gangway_models::{ChatRequest, Message, Piece, Provider as _, weights::Shelf};

/// Answers of each kind; the median is reported, since neighbours disturb single ones.
const ROUNDS: usize = 5;

/// One measured answer.
struct Run {
    prompt: f64,
    first: f64,
    generation: f64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("name the folder with the weights")?;
    let name = arguments.next();
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let settings = Settings {
        threads: number("THREADS"),
        ..Settings::default()
    };
    let model = Embedded::new(Shelf::new(Path::new(&folder)), settings)?;
    let mut out = std::io::stdout();

    let begun = Instant::now();
    ask(&model, name.as_deref(), "Hello!", 1).await?;
    writeln!(
        out,
        "load and first token   {:.2} s",
        begun.elapsed().as_secs_f64()
    )?;
    for (what, words) in [("short prompt", 1), ("long prompt", 62)] {
        let mut runs = Vec::new();
        let mut tokens = 0;
        for round in 0..ROUNDS {
            // A different beginning each time, or it would be known already.
            let text = format!(
                "{round} {what}. {}",
                "The ship sails on the sea. ".repeat(words)
            );
            let (read, run) = ask(&model, name.as_deref(), &text, 64).await?;
            tokens = read;
            runs.push(run);
        }
        let median = |figure: fn(&Run) -> f64| {
            let mut figures: Vec<f64> = runs.iter().map(figure).collect();
            figures.sort_by(f64::total_cmp);
            figures[figures.len() / 2]
        };
        writeln!(
            out,
            "{what}, {tokens} tokens: prompt {:.0} tok/s, first token {:.2} s, generation {:.0} tok/s",
            median(|run| run.prompt),
            median(|run| run.first),
            median(|run| run.generation),
        )?;
    }
    let several = (0..4).map(|n| {
        ask(
            &model,
            name.as_deref(),
            ["One", "Two", "Three", "Four"][n],
            64,
        )
    });
    let begun = Instant::now();
    let before = model.status().generated_tokens;
    for answer in futures_util::future::join_all(several).await {
        answer?;
    }
    let written = model.status().generated_tokens - before;
    let together = written as f64 / begun.elapsed().as_secs_f64();
    writeln!(out, "four side by side      {together:.0} tok/s together")?;
    let memory = model.status().memory_bytes as f64 / 1e6;
    writeln!(
        out,
        "weights and memory     {memory:.0} MB by its own count, {} resident",
        resident()
    )?;
    Ok(())
}

async fn ask(
    model: &Embedded,
    name: Option<&str>,
    text: &str,
    tokens: u32,
) -> Result<(u64, Run), Box<dyn Error>> {
    let request = ChatRequest {
        model: name.map(str::to_owned),
        messages: vec![Message::User(text.to_owned())],
        temperature: Some(0.0),
        max_tokens: Some(tokens),
        ..ChatRequest::default()
    };
    let begun = Instant::now();
    let mut pieces = model.chat(request).await?;
    let (mut first, mut usage) = (None, (0, 0));
    while let Some(piece) = pieces.next().await {
        match piece? {
            Piece::Text(_) => first = first.or(Some(begun.elapsed().as_secs_f64())),
            Piece::Usage { input, output } => usage = (input, output),
            _ => {}
        }
    }
    let first = first.unwrap_or(f64::NAN);
    let rest = begun.elapsed().as_secs_f64() - first;
    let run = Run {
        prompt: usage.0 as f64 / first,
        first,
        generation: (usage.1.saturating_sub(1)) as f64 / rest,
    };
    Ok((usage.0, run))
}

/// What the system says that the process takes.
fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.map_or_else(|| "unknown".to_owned(), |size| size.trim().to_owned())
}
