//! The command line.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing is what a command line does"
)]

mod agent;
mod app;
mod bridge;
mod browser;
mod config;
mod key;
mod login;
mod mcp;
mod models;
mod permissions;
mod pull;
mod relay;
mod remote;
mod say;
mod secrets;
mod serve;
mod simulate;
mod stdio;
mod study;
mod through;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Parser, Subcommand};

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
    /// Print a link that logs your browser in, for what needs it: adding servers of tools, making keys
    Login(login::LoginArgs),
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
    /// List, look at, check, begin and run apps
    App(app::AppArgs),
    /// Try an app with a fake agent, by a script, a recording or by hand
    Simulate(simulate::SimulateArgs),
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

/// Runs a command; what goes wrong is told in one line.
pub fn run(cli: Cli) -> ExitCode {
    let result = match cli.command {
        None => serve::run(ServeArgs::alone(cli.alone)),
        Some(Command::Serve(args)) => serve::run(args),
        Some(Command::Login(args)) => login::run(args),
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
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gangway: {error:#}");
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
    say::line(&serde_json::to_string_pretty(value)?);
    Ok(())
}
