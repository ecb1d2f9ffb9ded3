//! The command line.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what a command line does"
)]

mod agent;
mod app;
mod backup;
mod bridge;
mod config;
mod doctor;
mod key;
mod launch;
mod mcp;
mod models;
mod open;
mod permissions;
mod pull;
mod relay;
mod remote;
mod secrets;
mod serve;
mod server;
mod simulate;
mod stdio;
mod study;

use std::{path::PathBuf, process::ExitCode, time::SystemTime};

use clap::{Args, Parser, Subcommand};
use gangway_terminal::{self as say, browser};

pub use serve::ServeArgs;

/// The two-way bridge between AI agents and web pages.
#[derive(Parser)]
#[command(name = "gangway", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    alone: Common,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server
    Serve(ServeArgs),
    /// Open the chat in your browser, logged in
    #[command(alias = "login")]
    Open(open::OpenArgs),
    /// Make, list and revoke API keys
    Key(key::KeyArgs),
    /// Fetch, list, add and remove models on this machine
    Models(models::ModelsArgs),
    /// Keep, list and forget the keys of model providers
    Secrets(secrets::SecretsArgs),
    /// Add, list, try and remove servers of tools (MCP)
    Mcp(mcp::McpArgs),
    /// See, answer, allow and revoke what sites may do with your models and tools
    Permissions(permissions::PermissionsArgs),
    /// Be what the browser extension talks to, and tell browsers where that is
    Bridge(bridge::BridgeArgs),
    /// List, look at, check, begin and run apps, and fetch the packages that they import
    App(app::AppArgs),
    /// Try an app with a fake agent, by a script, a recording or by hand
    Simulate(gangway_devtools::simulate::SimulateArgs),
    /// List relay sessions, give them tokens, and check agents and pages against the protocol
    Relay(relay::RelayArgs),
    /// List, show, export and replay study sessions
    Study(study::StudyArgs),
    /// List, join and stop the agents that other sites made
    Agents(remote::agents::AgentsArgs),
    /// Keep, list and forget the folders that such agents work in
    Project(remote::project::ProjectArgs),
    /// Keep, list and forget who such agents can be
    Persona(remote::persona::PersonaArgs),
    /// Be a remote agent; the server starts this in a tmux session
    #[command(hide = true)]
    Agent(agent::AgentArgs),
    #[command(hide = true, name = crate::tools::GUARD)]
    ChildGuard(mcp::GuardArgs),
    /// Show and check settings
    Config(config::ConfigArgs),
    /// Check the data folder: the database, every event in it, settings, permissions and disk space
    Doctor(doctor::DoctorArgs),
    /// Write a backup of the data folder, also while the server runs
    Backup(backup::BackupArgs),
    /// Put a backup in place of the data folder, which is kept aside
    Restore(backup::RestoreArgs),
}

/// What every command takes.
#[derive(Args, Clone)]
pub struct Common {
    /// The data folder [default: ~/.gangway]
    #[arg(long, env = "GANGWAY_DATA", value_name = "DIR", hide_env_values = true)]
    data: Option<PathBuf>,
}

impl Common {
    fn data(&self) -> anyhow::Result<PathBuf> {
        match &self.data {
            Some(data) => Ok(std::path::absolute(data)?),
            None => match std::env::home_dir() {
                Some(home) if !home.as_os_str().is_empty() => Ok(home.join(".gangway")),
                _ => anyhow::bail!(
                    "there is no home folder; name a data folder with --data or GANGWAY_DATA"
                ),
            },
        }
    }
}

/// Runs the command of this process.
#[must_use]
pub fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => run(cli),
        // Help and version are ours; a complaint repeats what was typed, or what a script passed on.
        Err(error) if error.use_stderr() => {
            let text = error.render().to_string();
            for line in text.lines() {
                say::complain!("{line}");
            }
            ExitCode::from(2)
        }
        Err(error) => error.exit(),
    }
}

/// Runs a command; what goes wrong is told in one line.
fn run(cli: Cli) -> ExitCode {
    // The HTTP library panics when it writes such a date.
    if SystemTime::now() < SystemTime::UNIX_EPOCH {
        say::complain!(
            "gangway: the clock of this machine is before 1970; set the clock and start again"
        );
        return ExitCode::FAILURE;
    }
    let result = match cli.command {
        None => serve::run(ServeArgs::alone(cli.alone)),
        Some(Command::Serve(args)) => serve::run(args),
        Some(Command::Open(args)) => open::run(args),
        Some(Command::Key(args)) => key::run(args),
        Some(Command::Mcp(args)) => mcp::run(args),
        Some(Command::Permissions(args)) => permissions::run(args),
        Some(Command::App(args)) => match app::run(args) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Some(Command::Bridge(args)) => match bridge::run(args) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Some(Command::Simulate(args)) => return simulate::run(args),
        Some(Command::Relay(args)) => return relay::run(args),
        Some(Command::Study(args)) => match study::run(args) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Some(Command::Agents(args)) => remote::agents::run(args),
        Some(Command::Project(args)) => remote::project::run(args),
        Some(Command::Persona(args)) => remote::persona::run(args),
        Some(Command::Agent(args)) => agent::run(args),
        Some(Command::ChildGuard(args)) => return mcp::guard(args),
        Some(Command::Models(args)) => models::run(args),
        Some(Command::Secrets(args)) => secrets::run(args),
        Some(Command::Config(args)) => config::run(args),
        Some(Command::Doctor(args)) => match doctor::run(&args) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Some(Command::Backup(args)) => backup::run(&args),
        Some(Command::Restore(args)) => backup::restore(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say::complain!("gangway: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// This program, by a name under which it can be started again.
fn program() -> Option<std::ffi::OsString> {
    // By this name it is found even after another version was installed in its place.
    let linux = std::path::Path::new("/proc/self/exe");
    if linux.exists() {
        return Some(linux.into());
    }
    Some(std::env::current_exe().ok()?.into_os_string())
}

/// A runtime for commands that need one.
fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(work)
}

fn print_json<T: serde::Serialize>(value: &T) -> anyhow::Result<()> {
    Ok(say::print_json(value)?)
}
