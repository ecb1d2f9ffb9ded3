//! `gangway relay`: lists relay sessions, creates their tokens, and checks pages and agents for conformance.

use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};
use gangway_client::{ServerNote, encode::in_url};
use gangway_devtools::relay_check::{self, CheckArgs};
use gangway_relay::RelayName;

use super::{
    Common, block_on, print_json, say,
    say::say,
    server::{ask_stored, running},
};
use gangway_relay::routes::manage::{RelayList, RelayTokens};

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
    /// Create the agent token and the page token of a relay session and print them; they are not shown again
    Token {
        /// The relay session
        session: RelayName,
        /// Remove its tokens instead; for the id of a chat, its invitations
        #[arg(long)]
        remove: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Check your own agent or page for conformance with the protocol
    Check(Check),
}

#[derive(Args)]
struct Check {
    #[command(flatten)]
    check: CheckArgs,
    #[command(flatten)]
    common: Common,
}

impl Check {
    /// The token of the data folder's server, if that is the checked relay.
    fn own_token(&self) -> Option<String> {
        let note = ServerNote::read(&self.common.data().ok()?)?;
        self.check.url.is_at(&note.url).then_some(note.token)
    }
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
        Action::List { output } => block_on(list(output)),
        Action::Token {
            session,
            remove,
            output,
        } => block_on(token(&session, remove, output)),
        Action::Check(args) => {
            let checked = block_on(relay_check::check(&args.check, args.own_token()));
            return relay_check::exit_code(checked);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say::complain!("gangway: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn list(output: Output) -> anyhow::Result<()> {
    let server = running(&output.common)?
        .context("Gangway is not running, so there is no relay; start it: gangway serve")?;
    let list: RelayList = server.get("/api/relay").await?;
    if output.json {
        return print_json(&list);
    }
    if list.sessions.is_empty() && list.invitations.is_empty() {
        say!("There are no relay sessions. A page or an agent creates one by joining it.");
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
    for invitation in list.invitations {
        let (chat, label) = (invitation.session_id, invitation.label);
        say!(
            "{chat}  invitation of {label:?}, until {}",
            invitation.expires_at
        );
    }
    Ok(())
}

async fn token(session: &RelayName, remove: bool, output: Output) -> anyhow::Result<()> {
    let path = format!("/api/relay/tokens/{}", in_url(session.as_str()));
    if remove {
        ask_stored(&output.common, async |server| server.delete(&path).await).await?;
        if output.json {
            return print_json(&serde_json::json!({ "removed": session.as_str() }));
        }
        say!("Removed the tokens of {session}");
        return Ok(());
    }
    let made: RelayTokens =
        ask_stored(&output.common, async |server| server.post(&path, &()).await).await?;
    if output.json {
        return print_json(&made);
    }
    say!("Tokens of {}, not shown again:", made.session);
    say!("  for agents:   {}", made.agent_token);
    say!("  for the page: {}", made.host_token);
    Ok(())
}
