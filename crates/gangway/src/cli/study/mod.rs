//! `gangway study`: lists, shows, exports and replays study sessions.

mod recorded;
mod replay;

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::{Args, Subcommand};
use gangway_client::ServerClient;
use gangway_relay::{
    RelayName, StudyId,
    study::{StudyEntry, StudyList, StudySummary},
};

use super::{Common, block_on, print_json, say::say, server::ask_stored};

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The original log
    Jsonl,
    /// A table for statistics software
    Csv,
}

/// Maximum column width of a table.
const WIDEST: usize = 40;

const LIST: &str = "/api/study";

#[derive(Args)]
pub struct StudyArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List the study sessions, newest first
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Show the summary of a study session: steps, errors and time by stage and actor
    Show {
        /// The study session's id
        id: StudyId,
        #[command(flatten)]
        output: Output,
    },
    /// Export a study session to a file or standard output
    Export {
        /// The study session's id
        id: StudyId,
        /// The format
        #[arg(long, default_value = "jsonl")]
        format: Format,
        /// The file; an existing one is not overwritten
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        common: Common,
    },
    /// Replay the agent's calls on an open page, and compare the results
    Replay {
        /// The study session's id
        id: StudyId,
        /// Playback speed; 0 does not wait between calls
        #[arg(long, default_value_t = 1.0, value_parser = speed)]
        speed: f64,
        /// The relay session of the page [default: the recorded one]
        #[arg(long, value_name = "SESSION")]
        relay: Option<RelayName>,
        /// The token of the relay session
        #[arg(long)]
        token: Option<String>,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Args)]
struct Output {
    #[command(flatten)]
    common: Common,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if speed >= 0.0 && speed.is_finite() => Ok(speed),
        _ => Err("must be 0 or more".into()),
    }
}

pub(super) fn run(args: StudyArgs) -> anyhow::Result<ExitCode> {
    block_on(async {
        match args.action {
            Action::List { output } => list(&output).await?,
            Action::Show { id, output } => show(&id, &output).await?,
            Action::Export {
                id,
                format,
                output,
                common,
            } => export(&id, format, output, &common).await?,
            Action::Replay {
                id,
                speed,
                relay,
                token,
                output,
            } => {
                let request = replay::ReplayOptions {
                    id,
                    speed,
                    relay,
                    token,
                    json: output.json,
                };
                return replay::run(request, &output.common).await;
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn list(output: &Output) -> anyhow::Result<()> {
    let list: StudyList = ask_stored(&output.common, async |server| server.get(LIST).await).await?;
    if output.json {
        return print_json(&list);
    }
    if list.sessions.is_empty() {
        say!("There are no study sessions. An agent starts one with session.start.");
        return Ok(());
    }
    let names = [
        "SESSION",
        "STUDY",
        "PARTICIPANT",
        "BEGAN",
        "SECONDS",
        "EVENTS",
    ];
    let or_none = |text: &Option<String>| text.as_deref().unwrap_or("-").to_owned();
    let rows = list.sessions.iter().map(|entry| {
        [
            entry.session_id.clone(),
            or_none(&entry.study_id),
            or_none(&entry.participant_id),
            entry.started_at.strftime("%F %R").to_string(),
            lasted(entry),
            entry.events.map_or("-".into(), |n| n.to_string()),
        ]
    });
    let rows: Vec<_> = [names.map(str::to_owned)].into_iter().chain(rows).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or_default().min(WIDEST)
    };
    let widths: [usize; 6] = std::array::from_fn(width);
    for row in &rows {
        let cells = row.iter().zip(widths).map(|(cell, wide)| {
            let cell: String = cell.chars().take(WIDEST).collect();
            format!("{cell:<wide$}")
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        say!("{}", line.trim_end());
    }
    Ok(())
}

fn lasted(entry: &StudyEntry) -> String {
    match entry.ended_at {
        None => "open".into(),
        Some(end) => format!("{:.0}", end.duration_since(entry.started_at).as_secs_f64()),
    }
}

/// The entry of a study session, or an error.
async fn entry(server: &ServerClient, id: &StudyId) -> anyhow::Result<StudyEntry> {
    let list: StudyList = server.get(LIST).await?;
    let found = list
        .sessions
        .into_iter()
        .find(|e| e.session_id == id.as_str());
    found.with_context(|| {
        format!("study session {id} not found; `gangway study list` shows all study sessions")
    })
}

async fn show(id: &StudyId, output: &Output) -> anyhow::Result<()> {
    let (entry, summary, page) = ask_stored(&output.common, async |server| {
        let entry = entry(server, id).await?;
        let summary: StudySummary = server.get(&format!("{LIST}/{id}/summary")).await?;
        let page = format!("{}/study/{id}", server.address().0);
        Ok((entry, summary, (!server.is_own()).then_some(page)))
    })
    .await?;
    if output.json {
        return print_json(&serde_json::json!({ "session": entry, "summary": summary }));
    }
    say!(
        "{id}: study {}, participant {}, on {}",
        entry.study_id.as_deref().unwrap_or("-"),
        entry.participant_id.as_deref().unwrap_or("-"),
        entry.relay_session
    );
    let began = entry.started_at.strftime("%F %T");
    match entry.ended_at {
        None => say!("Began {began}, still open"),
        Some(end) => say!(
            "Began {began}, ended {}: {}",
            end.strftime("%F %T"),
            entry.reason.as_deref().unwrap_or("no reason given")
        ),
    }
    print_summary(&summary);
    if let Some(page) = page {
        say!("Step through it at {page}");
    }
    Ok(())
}

fn print_summary(summary: &StudySummary) {
    let row = |name: &str, steps: u64, user: u64, agent: u64, errors: u64, seconds: f64| {
        say!("{name:<20} {steps:>6} {user:>7} {agent:>6} {errors:>7} {seconds:>9.1}");
    };
    say!(
        "{:<20} {:>6} {:>7} {:>6} {:>7} {:>9}",
        "STAGE",
        "STEPS",
        "PERSON",
        "AGENT",
        "ERRORS",
        "SECONDS"
    );
    for stage in &summary.stages {
        let (user, agent) = (stage.by.user, stage.by.agent);
        row(
            &stage.stage,
            stage.steps,
            user,
            agent,
            stage.errors,
            stage.seconds,
        );
    }
    let (user, agent) = (summary.by.user, summary.by.agent);
    row(
        "all",
        summary.steps,
        user,
        agent,
        summary.errors,
        summary.seconds,
    );
    say!(
        "Messages: {} from the person, {} from agents",
        summary.messages.user,
        summary.messages.agent
    );
}

async fn export(
    id: &StudyId,
    format: Format,
    file: Option<PathBuf>,
    common: &Common,
) -> anyhow::Result<()> {
    ask_stored(common, async |server| {
        entry(server, id).await?;
        match file {
            None => print(server, id, format).await,
            Some(file) => write(server, id, format, &file).await,
        }
    })
    .await
}

async fn download(
    server: &ServerClient,
    id: &StudyId,
    format: Format,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let ending = match format {
        Format::Jsonl => "jsonl",
        Format::Csv => "csv",
    };
    let path = format!("{LIST}/{id}/{ending}");
    server.download(&path, |bytes| out.write_all(bytes)).await?;
    Ok(out.flush()?)
}

async fn print(server: &ServerClient, id: &StudyId, format: Format) -> anyhow::Result<()> {
    let done = download(server, id, format, &mut super::say::output()).await;
    let gone = |error: &anyhow::Error| {
        let error = error.downcast_ref::<io::Error>();
        error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    // The reader of the pipe closed it.
    done.or_else(|error| if gone(&error) { Ok(()) } else { Err(error) })
}

async fn write(
    server: &ServerClient,
    id: &StudyId,
    format: Format,
    file: &Path,
) -> anyhow::Result<()> {
    let message = || format!("writing {}", file.display());
    let out = File::create_new(file).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            anyhow::anyhow!("{} already exists; choose another file", file.display())
        }
        _ => anyhow::Error::new(error).context(message()),
    })?;
    let written = download(server, id, format, &mut BufWriter::new(out)).await;
    if written.is_err() {
        // A partial file would be taken for a complete one.
        let _ = std::fs::remove_file(file);
    }
    written.with_context(message)
}
