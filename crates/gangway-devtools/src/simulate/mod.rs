//! `gangway simulate`: a simulated agent for app authors.

mod chrome;
mod matching;
mod page;
mod play;
mod recording;
mod replay;
mod scene;
mod script;
mod stage;
mod transcript;
mod typed;
mod wire;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, ensure};
use clap::Args;
use gangway_client::ServerNote;
use gangway_terminal::{self as say, browser};
use serde_json::{Map, Value, json};
use tokio::time::{sleep, timeout};

use self::{
    chrome::Chrome,
    page::Page,
    play::Play,
    recording::Recording,
    scene::Scene,
    script::{LaunchWith, Script},
    stage::Stage,
    transcript::Transcript,
};

/// Exit codes besides 0: failed, or could not run.
const FAILED: u8 = 1;
const NOT_RUN: u8 = 2;

/// Default time limit of a run that ends by itself.
const LIMIT: u64 = 30;

#[derive(Args)]
pub struct SimulateArgs {
    /// The app's folder or name
    app: String,
    /// A YAML script for the simulated agent
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Replay a recording and compare the app's messages
    #[arg(long, value_name = "FILE", conflicts_with_all = ["script", "given_data", "given_config", "agent", "record"])]
    replay: Option<PathBuf>,
    /// Record the run into a file for --replay
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Launch data: JSON, or @FILE
    #[arg(long = "data", id = "given_data", value_name = "JSON")]
    given_data: Option<String>,
    /// Launch config: JSON, or @FILE
    #[arg(long = "config", id = "given_config", value_name = "JSON")]
    given_config: Option<String>,
    /// The agent's name [default: simulator]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// A folder with apps; may be repeated
    #[arg(long, value_name = "DIR")]
    apps: Vec<PathBuf>,
    /// Open the page in headless Chromium
    #[arg(long)]
    headless: bool,
    /// The Chromium executable [default: the installed one]
    #[arg(long, value_name = "PATH", requires = "headless")]
    browser: Option<PathBuf>,
    /// Do not open a browser, only print the URL
    #[arg(long, conflicts_with = "headless")]
    no_open: bool,
    /// The time limit of the run [default: 30, unlimited without a script]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// The server of a run, and how child processes are started.
pub struct Host {
    pub note: ServerNote,
    /// Environment variables hidden from child processes: keys.
    pub withheld: Vec<String>,
    /// A command prefix that ends the browser even if this process is killed; may be empty.
    pub guard: Vec<OsString>,
}

pub struct Outcome {
    failure: Option<String>,
    talk: Transcript,
    errors: Vec<String>,
}

/// Prints the result; returns the exit code.
pub fn report(args: &SimulateArgs, outcome: &anyhow::Result<Outcome>) -> ExitCode {
    let (code, failure) = match outcome {
        Ok(outcome) => match &outcome.failure {
            None => (0, None),
            Some(why) => (FAILED, Some(why.clone())),
        },
        Err(error) => (NOT_RUN, Some(format!("{error:#}"))),
    };
    if args.json {
        let (talk, errors) = match outcome {
            Ok(outcome) => (json!(outcome.talk.talk), json!(outcome.errors)),
            Err(_) => (json!([]), json!([])),
        };
        let result = ["passed", "failed", "not run"][usize::from(code)];
        let all =
            json!({ "result": result, "failure": failure, "pageErrors": errors, "talk": talk });
        say::json(&all.to_string());
    } else if let Some(why) = failure {
        let what = if code == FAILED { "failed" } else { "gangway" };
        say::complain!("{what}: {why}");
    } else if args.replay.is_some() || args.script.is_some() {
        say::line("passed");
    }
    ExitCode::from(code)
}

enum SimulationInput {
    Script(Box<Script>),
    Replay(Box<Recording>),
}

/// A parsed and validated run.
pub struct Simulation<'a> {
    args: &'a SimulateArgs,
    part: SimulationInput,
    with: LaunchWith,
    app: String,
    /// App folders for the server.
    pub folders: Vec<PathBuf>,
    /// Whether the run ends by itself.
    ends: bool,
}

impl<'a> Simulation<'a> {
    /// Reads script or recording. `actions` are those that the server performs for an agent without them: the
    /// simulated agent claims them all. `named_apps` returns the app folders from the settings.
    pub fn read(
        args: &'a SimulateArgs,
        actions: &[&str],
        named_apps: impl FnOnce() -> anyhow::Result<Vec<PathBuf>>,
    ) -> anyhow::Result<Self> {
        let part = match (&args.replay, &args.script) {
            (Some(file), _) => SimulationInput::Replay(Box::new(Recording::read(file)?)),
            (None, Some(file)) => SimulationInput::Script(Box::new(Script::read(file)?)),
            (None, None) => SimulationInput::Script(Box::default()),
        };
        let with = launch_with(args, &part, actions)?;
        let (folders, app) = find(args, named_apps)?;
        let ends = match &part {
            SimulationInput::Script(script) => {
                ensure!(
                    args.headless || script.page.is_empty(),
                    "the script has page steps, which need --headless"
                );
                script.ends()
            }
            SimulationInput::Replay(recording) => {
                let steps = recording.talk.iter().any(|entry| entry.page.is_some());
                ensure!(
                    args.headless || !steps,
                    "the recording has page steps, which need --headless"
                );
                ensure!(
                    recording.app == app,
                    "this is a recording of {}, not of {app}",
                    recording.app
                );
                true
            }
        };
        Ok(Self {
            args,
            part,
            with,
            app,
            folders,
            ends,
        })
    }

    /// Runs until the end, the time limit, or `stop`.
    pub async fn run(self, host: Host, stop: impl Future<Output = ()>) -> anyhow::Result<Outcome> {
        let Self {
            args,
            part,
            with,
            app,
            ends,
            ..
        } = self;
        let limit = args
            .timeout
            .or(ends.then_some(LIMIT))
            .map(Duration::from_secs);
        let (stage, line) = Stage::set(host, &app, &with, !ends).await?;
        let mut chrome = None;
        let work = async {
            let talk = Transcript::new(!args.json);
            for warning in &stage.warnings {
                talk.note("launch", warning);
            }
            let page = open(args, &stage, &mut chrome).await?;
            let scene = Scene::new(line, page, talk);
            let outcome = play(args, part, scene, &stage, limit, stop).await?;
            if let Some(file) = &args.record {
                let allowed = !outcome.errors.is_empty();
                Recording::new(&app, &with, allowed, &outcome.talk.talk).write(file)?;
            }
            anyhow::Ok(outcome)
        };
        let outcome = work.await;
        if let Some(chrome) = chrome {
            chrome.end().await;
        }
        outcome
    }
}

async fn play(
    args: &SimulateArgs,
    part: SimulationInput,
    mut scene: Scene,
    stage: &Stage,
    limit: Option<Duration>,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<Outcome> {
    let late = async {
        match limit {
            Some(limit) => sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    let seconds = limit.unwrap_or_default().as_secs();
    let (failure, allow_errors) = match part {
        SimulationInput::Script(script) => {
            let free = !script.ends();
            let typed = (free && args.script.is_none()).then(typed::lines);
            if typed.is_some() && !args.json {
                say::line(typed::WORDS);
            }
            let allow_errors = script.allow_errors || free;
            let mut play = Play::new(*script, typed);
            let failure = tokio::select! {
                failure = play.run(&mut scene, stage) => failure?,
                () = late => (!free).then(|| format!("timed out after {seconds} s\n{}", play.missing())),
                () = stop => (!free).then(|| "stopped".to_owned()),
            };
            (failure, allow_errors)
        }
        SimulationInput::Replay(recording) => {
            let failure = tokio::select! {
                failure = replay::play(&mut scene, &recording) => failure?,
                () = late => Some(format!("the recording did not finish within {seconds} s")),
                () = stop => Some("stopped".to_owned()),
            };
            (failure, recording.allow_errors)
        }
    };
    let (talk, errors) = scene.close();
    let threw = (!allow_errors && !errors.is_empty())
        .then(|| format!("the page threw an error: {}", errors.join("\n")));
    Ok(Outcome {
        failure: failure.or(threw),
        talk,
        errors,
    })
}

/// Opens the page in the user's browser or in a headless one.
async fn open(
    args: &SimulateArgs,
    stage: &Stage,
    chrome: &mut Option<Chrome>,
) -> anyhow::Result<Option<Page>> {
    let url = &stage.url;
    if args.headless {
        let started = Chrome::start(args.browser.as_deref(), &stage.host)?;
        let wire = chrome
            .insert(started)
            .connect()
            .await
            .context("starting the browser")?;
        let opened = timeout(Duration::from_secs(LIMIT), Page::open(wire, url)).await;
        return opened.context("opening the page took too long")?.map(Some);
    }
    let withheld = stage.host.withheld.iter().map(String::as_str);
    let opened = !args.no_open && browser::open(url, withheld);
    match args.json {
        true => say::json(&json!({ "url": url, "launchId": stage.launch }).to_string()),
        false if opened => say::line(&format!("The page is at {url}")),
        false => say::line(&format!("Open {url} in your browser.")),
    }
    Ok(None)
}

/// The app folders and the name of the app.
fn find(
    args: &SimulateArgs,
    named_apps: impl FnOnce() -> anyhow::Result<Vec<PathBuf>>,
) -> anyhow::Result<(Vec<PathBuf>, String)> {
    let path = Path::new(&args.app);
    if path.join("APP.md").is_file() {
        let path = std::path::absolute(path)?;
        let app = gangway_apps::App::in_folder(&path).map_err(|stray| {
            let lines: Vec<String> = stray.problems.iter().map(ToString::to_string).collect();
            anyhow::anyhow!("this app cannot be launched:\n{}", lines.join("\n"))
        })?;
        return Ok((vec![path], app.name.to_string()));
    }
    let name: Result<gangway_core::AppName, _> = args.app.parse();
    let name = name.map_err(|_| {
        anyhow::anyhow!(
            "there is no APP.md in {}, and it is not an app name",
            args.app
        )
    })?;
    let mut folders = named_apps()?;
    folders.extend(args.apps.iter().cloned());
    Ok((folders, name.to_string()))
}

/// Launch data of the command line, else of the script or recording.
fn launch_with(
    args: &SimulateArgs,
    part: &SimulationInput,
    actions: &[&str],
) -> anyhow::Result<LaunchWith> {
    let mut with = match part {
        SimulationInput::Script(script) => script.launch.clone(),
        SimulationInput::Replay(recording) => recording.launch.clone(),
    };
    if let Some(data) = &args.given_data {
        with.data = object("--data", data)?;
    }
    if let Some(config) = &args.given_config {
        with.config = object("--config", config)?;
    }
    if args.agent.is_some() {
        with.agent.clone_from(&args.agent);
    }
    if with.capabilities.is_none() {
        let mut names: Vec<String> = actions.iter().map(|name| (*name).to_owned()).collect();
        if let SimulationInput::Script(script) = part {
            for name in script.actions() {
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        }
        with.capabilities = Some(names);
    }
    Ok(with)
}

/// A JSON object, inline or from a file.
fn object(what: &str, given: &str) -> anyhow::Result<Map<String, Value>> {
    let text = match given.strip_prefix('@') {
        Some(file) => std::fs::read_to_string(file).with_context(|| format!("reading {file}"))?,
        None => given.to_owned(),
    };
    serde_json::from_str(&text).with_context(|| format!("{what} must be a JSON object"))
}
