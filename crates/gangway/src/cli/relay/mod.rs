//! `gangway relay`: look at relay sessions, give them tokens, and check pages and agents of one's own.

mod agent;
mod host;
mod params;
mod report;
pub(in crate::cli) mod wire;

use std::{process::ExitCode, time::Duration};

use clap::{Args, Subcommand, ValueEnum};
use gangway_core::Store;
use gangway_relay::{RelayName, Tokens};

use self::wire::RelayUrl;
use super::{
    Common, block_on, print_json, say,
    say::say,
    through::{Place, encoded},
};
use crate::{
    data::ServerNote,
    doors::relay::manage::{RelayList, RelayTokens},
};
use crate::doors::relay::manage::{RelayList, RelayTokens};
use gangway_client::ServerNote;
use gangway_relay::{RelayName, Tokens};

/// What an exit code means besides 0: something is wrong, or it could not be tried.
const WRONG: u8 = 1;
const NOT_RUN: u8 = 2;

/// Where external agents and pages meet.
#[derive(Args)]
pub struct RelayArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List the relay sessions, with their pages and agents
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Make tokens for a relay session and print them, once: one for agents, one for the page
    Token {
        /// The relay session
        session: RelayName,
        /// Take its tokens away instead
        #[arg(long)]
        remove: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Check an agent or a page of your own against the protocol
    Check(CheckArgs),
}

/// What is checked, and where.
#[derive(Args)]
struct CheckArgs {
    /// Host: the relay that the page has joined. Agent: where to listen for the agent
    url: RelayUrl,
    /// What is checked: a page, or an agent
    #[arg(long)]
    role: CheckRole,
    /// The relay session of the page
    #[arg(long, default_value = "default")]
    session: RelayName,
    /// Its token
    #[arg(long)]
    token: Option<String>,
    /// An API key for the relay; not needed for that of your own data folder
    #[arg(long, env = "GANGWAY_KEY", hide_env_values = true)]
    key: Option<String>,
    #[command(flatten)]
    common: Common,
    /// Host: a call that must work, as NAME or NAME=PARAMS in JSON [default: one is guessed]
    #[arg(long, value_name = "CALL")]
    call: Option<String>,
    /// Seconds that an answer may take; an agent may take six times as long between two messages
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
    /// Agent: do not cut the connection to see whether it comes back
    #[arg(long)]
    no_drop: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl CheckArgs {
    /// What lets in at the relay: the key that was given, or the token of the data folder whose server it is.
    fn key(&self) -> Option<String> {
        let own = || {
            let note = ServerNote::read(&self.common.data().ok()?)?;
            self.url.is_at(&note.url).then_some(note.token)
        };
        self.key.clone().or_else(own)
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum CheckRole {
    /// A page
    Host,
    /// An agent
    Agent,
}

#[derive(Args)]
struct Output {
    #[command(flatten)]
    common: Common,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: RelayArgs) -> ExitCode {
    let done = match args.action {
        Action::List { output } => block_on(list(output)).map(|()| true),
        Action::Token {
            session,
            remove,
            output,
        } => block_on(token(&session, remove, output)).map(|()| true),
        Action::Check(args) => {
            let checked = block_on(check(&args));
            return match checked {
                Ok(true) => ExitCode::SUCCESS,
                Ok(false) => ExitCode::from(WRONG),
                Err(error) => {
                    say::complain!("gangway: {error:#}");
                    ExitCode::from(NOT_RUN)
                }
            };
        }
    };
    match done {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            say::complain!("gangway: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn check(args: &CheckArgs) -> anyhow::Result<bool> {
    let patience = Duration::from_secs(args.seconds);
    let report = match args.role {
        CheckRole::Host => host::check(args, patience).await?,
        CheckRole::Agent => agent::check(args, patience).await?,
    };
    report.print(args.json)?;
    Ok(report.passed())
}

async fn list(output: Output) -> anyhow::Result<()> {
    let Place::Server(server) = Place::find(&output.common.data()?)? else {
        anyhow::bail!(
            "no Gangway runs on this data folder, so there is no relay; start it: gangway serve"
        );
    };
    let list: RelayList = server.get("/api/relay").await?;
    if output.json {
        return print_json(&list);
    }
    if list.sessions.is_empty() {
        say!("There are no relay sessions. A page or an agent makes one by joining it");
    }
    for session in list.sessions {
        let page = if session.host { "page" } else { "no page" };
        let agents = match session.agents {
            1 => "1 agent".to_owned(),
            n => format!("{n} agents"),
        };
        let token = if session.token { "  token" } else { "" };
        let study = session.study_session.unwrap_or_default();
        say!("{}  {page}  {agents}{token}  {study}", session.name);
    }
    Ok(())
}

async fn token(session: &RelayName, remove: bool, output: Output) -> anyhow::Result<()> {
    let place = Place::find(&output.common.data()?)?;
    let path = format!("/api/relay/tokens/{}", encoded(session.as_str()));
    if remove {
        match place {
            Place::Server(server) => server.delete(&path).await?,
            Place::Folder(folder) => {
                let tokens = Tokens::load(Store::open(folder.path())?).await?;
                let removed = tokens.remove(session).await?;
                anyhow::ensure!(removed, "this relay session has no tokens");
            }
        }
        if output.json {
            return print_json(&serde_json::json!({ "removed": session.as_str() }));
        }
        say!("{session} has no tokens any more");
        return Ok(());
    }
    let made: RelayTokens = match place {
        Place::Server(server) => server.post(&path, &()).await?,
        Place::Folder(folder) => {
            let tokens = Tokens::load(Store::open(folder.path())?).await?;
            let made = tokens.make(session).await?;
            RelayTokens {
                session: session.to_string(),
                agent_token: made.agent,
                host_token: made.host,
            }
        }
    };
    if output.json {
        return print_json(&made);
    }
    say!("Tokens of {}, shown only now:", made.session);
    say!("  for agents:   {}", made.agent_token);
    say!("  for the page: {}", made.host_token);
    Ok(())
}
