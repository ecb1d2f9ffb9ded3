//! `gangway relay check`: checks a page or an agent against the relay protocol.

mod agent;
mod host;
mod params;
mod report;

use std::{process::ExitCode, time::Duration};

use clap::{Args, ValueEnum};
use gangway_relay::RelayName;
use gangway_terminal::{complain, say};

pub use self::{agent::AgentCheck, report::Report};
use crate::relay_client::RelayUrl;

/// Exit codes besides 0: a check failed, or could not run.
const WRONG: u8 = 1;
const NOT_RUN: u8 = 2;

#[derive(Args)]
pub struct CheckArgs {
    /// With --role host: the relay that the page has joined; with --role agent: the address to listen on
    pub url: RelayUrl,
    /// What to check
    #[arg(long)]
    role: CheckRole,
    /// The relay session of the page
    #[arg(long, default_value = "default")]
    session: RelayName,
    /// The token of the relay session
    #[arg(long)]
    token: Option<String>,
    /// An API key for the relay; not needed for the server of your own data folder
    #[arg(long, env = "GANGWAY_KEY", hide_env_values = true)]
    key: Option<String>,
    /// With --role host: a tool call that must succeed, as NAME or NAME=JSON [default: guessed]
    #[arg(long, value_name = "CALL")]
    call: Option<String>,
    /// The timeout for an answer, in seconds; an agent may take six times as long between two messages
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
    /// With --role agent: do not test reconnecting
    #[arg(long)]
    no_drop: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum CheckRole {
    /// A page
    Host,
    /// An agent
    Agent,
}

/// Checks and prints the report; returns whether it passed. `own_token` is used if no key is given.
pub async fn check(args: &CheckArgs, own_token: Option<String>) -> anyhow::Result<bool> {
    let timeout = Duration::from_secs(args.seconds);
    let report = match args.role {
        CheckRole::Host => {
            let key = args.key.clone().or(own_token);
            host::check(args, key.as_deref(), timeout).await?
        }
        CheckRole::Agent => {
            let check = AgentCheck::listen(args).await?;
            match args.json {
                true => complain!("Waiting for the agent at {}", check.url()),
                false => say!("Waiting for the agent at {}", check.url()),
            }
            check.run().await?
        }
    };
    report.print(args.json)?;
    Ok(report.passed())
}

/// The exit code of a check; prints the error if it could not run.
pub fn exit_code(checked: anyhow::Result<bool>) -> ExitCode {
    match checked {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(WRONG),
        Err(error) => {
            complain!("gangway: {error:#}");
            ExitCode::from(NOT_RUN)
        }
    }
}
