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
mod demo;
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
use futures_util::FutureExt;
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
    /// Show agents and pages working together, without a model
    Demo(demo::DemoArgs),
    /// Create, list and revoke API keys
    Key(key::KeyArgs),
    /// Download, list, add and remove local models
    Models(models::ModelsArgs),
    /// Store, list and delete API keys of model providers
    Secrets(secrets::SecretsArgs),
    /// Search, install, list, call and remove MCP servers
    Mcp(mcp::McpArgs),
    /// Show, grant and revoke the permissions of websites
    Permissions(permissions::PermissionsArgs),
    /// Run or install the native messaging host of the browser extension
    Bridge(bridge::BridgeArgs),
    /// List, create, validate and run apps, and vendor their packages
    App(app::AppArgs),
    /// Test an app against a simulated agent: scripted, recorded or interactive
    Simulate(gangway_devtools::simulate::SimulateArgs),
    /// List relay sessions, create their tokens, and check agents and pages for conformance
    Relay(relay::RelayArgs),
    /// List, show, export and replay study sessions
    Study(study::StudyArgs),
    /// List, attach to and stop remote agents
    Agents(remote::agents::AgentsArgs),
    /// Add, list and remove projects, the folders that remote agents work in
    Project(remote::project::ProjectArgs),
    /// Add, list and remove personas of remote agents
    Persona(remote::persona::PersonaArgs),
    /// Run a remote agent; the server starts this in a tmux session
    #[command(hide = true)]
    Agent(agent::AgentArgs),
    #[command(hide = true, name = gangway_tools::GUARD)]
    ChildGuard(mcp::GuardArgs),
    /// Show and validate the configuration
    Config(config::ConfigArgs),
    /// Check the data folder: database integrity, configuration, file permissions and disk space
    Doctor(doctor::DoctorArgs),
    /// Back up the data folder; the server may be running
    Backup(backup::BackupArgs),
    /// Restore a backup; the current data folder is kept beside it
    Restore(backup::RestoreArgs),
}

/// Options common to all commands.
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
                    "no home directory is set; name a data folder with --data or GANGWAY_DATA"
                ),
            },
        }
    }
}

#[must_use]
pub fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => run(cli),
        // Help and version are ours; an error message repeats arguments, which are sanitized.
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

/// Runs a command; errors are one line on standard error.
fn run(cli: Cli) -> ExitCode {
    // The HTTP library panics on such a date.
    if SystemTime::now() < SystemTime::UNIX_EPOCH {
        say::complain!("gangway: the system clock is before 1970; set it and try again");
        return ExitCode::FAILURE;
    }
    let result = match cli.command {
        None => serve::run(ServeArgs::alone(cli.alone)),
        Some(Command::Serve(args)) => serve::run(args),
        Some(Command::Open(args)) => open::run(args),
        Some(Command::Demo(args)) => demo::run(args),
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

/// The path of this program, for starting it again.
fn program() -> Option<std::ffi::OsString> {
    // This path stays valid after another version was installed in its place.
    let linux = std::path::Path::new("/proc/self/exe");
    if linux.exists() {
        return Some(linux.into());
    }
    Some(std::env::current_exe().ok()?.into_os_string())
}

fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    // Boxed, so that the code of the runtime is not compiled once per command.
    let work = work.boxed_local();
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(work)
}

fn print_json<T: serde::Serialize>(value: &T) -> anyhow::Result<()> {
    Ok(say::print_json(value)?)
}
