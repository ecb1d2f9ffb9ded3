//! `gangway permissions`: what sites may do, what they ask, and what they did.

mod pending;

use std::{collections::BTreeMap, io::IsTerminal};

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use gangway_client::{ServerClient, encode::in_url};
use gangway_core::{Grant, Origin, Scope, ToolName};

use super::{
    Common, block_on, print_json,
    say::say,
    server::{CommandServer, ask, running},
};
use crate::permissions::wire::{
    AskDecision, AuditPage, GrantDuration, OriginPermissions, PermissionList, SetPermissions,
};

const PATH: &str = "/api/permissions";

/// Permissions of sites.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct PermissionsArgs {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    output: Output,
}

#[derive(Subcommand)]
enum Action {
    /// List what sites may do
    List {
        #[command(flatten)]
        output: Output,
    },
    /// List what sites ask now
    Pending {
        #[command(flatten)]
        output: Output,
    },
    /// Answer a site
    Answer {
        /// The question, from `gangway permissions pending`; the beginning of its id is enough
        id: String,
        /// What to say
        decision: Said,
        /// Allow only this tool of those that the question shows; may be repeated
        #[arg(long = "tool", value_name = "SERVER/TOOL")]
        tools: Vec<ToolName>,
        /// Allow none of the tools that the question shows
        #[arg(long, conflicts_with = "tools")]
        no_tools: bool,
        /// How long `always` lasts
        #[arg(long = "for", value_name = "TIME", default_value = "30d")]
        duration: GrantDuration,
        #[command(flatten)]
        common: Common,
    },
    /// Allow a site something
    Allow {
        #[command(flatten)]
        what: What,
        /// How long it lasts
        #[arg(long = "for", value_name = "TIME", default_value = "never")]
        duration: GrantDuration,
        /// A tool that goes with mcp:tools.call and model:tools; may be repeated
        #[arg(long = "tool", value_name = "SERVER/TOOL")]
        tools: Vec<ToolName>,
    },
    /// Refuse a site something, without further questions
    Deny {
        #[command(flatten)]
        what: What,
    },
    /// Forget what was said about a site, or about some scopes; it may ask again
    Revoke {
        /// Where its pages come from, such as https://shop.example
        origin: Origin,
        /// Only these
        #[arg(value_name = "SCOPE")]
        scopes: Vec<Scope>,
        #[command(flatten)]
        common: Common,
    },
    /// Forget what was said about all sites
    Clear {
        /// Do not ask first
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        common: Common,
    },
    /// Show what was decided and what was used, newest first
    Log {
        /// Of this site alone
        #[arg(long)]
        origin: Option<Origin>,
        /// How many entries
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=500))]
        limit: u16,
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

#[derive(Args)]
struct What {
    /// Where its pages come from, such as https://shop.example
    origin: Origin,
    /// What it is about, such as model:prompt
    #[arg(required = true, value_name = "SCOPE")]
    scopes: Vec<Scope>,
    #[command(flatten)]
    common: Common,
}

#[derive(Clone, Copy, ValueEnum)]
enum Said {
    /// Yes, for ten minutes or until its tab is closed
    Once,
    /// Yes, for as long as --for says
    Always,
    /// No, until you say otherwise
    Deny,
}

impl From<Said> for AskDecision {
    fn from(said: Said) -> Self {
        match said {
            Said::Once => Self::Once,
            Said::Always => Self::Always,
            Said::Deny => Self::Deny,
        }
    }
}

pub(super) fn run(args: PermissionsArgs) -> anyhow::Result<()> {
    block_on(async {
        match args.action {
            None => alone(args.output).await,
            Some(Action::List { output }) => list(output).await,
            Some(Action::Pending { output }) => show_pending(output).await,
            Some(Action::Answer {
                id,
                decision,
                tools,
                no_tools,
                duration,
                common,
            }) => {
                let server = &asked_server(&common)?;
                let id = pending::find(server, &id).await?;
                let chosen = no_tools || !tools.is_empty();
                let (decision, tools) = (decision.into(), chosen.then_some(tools));
                pending::answer(server, &id, decision, tools, Some(duration)).await?;
                say!("Done; the page knows.");
                Ok(())
            }
            Some(Action::Allow {
                what,
                duration,
                tools,
            }) => set(what, Grant::Always, tools, Some(duration)).await,
            Some(Action::Deny { what }) => set(what, Grant::Denied, Vec::new(), None).await,
            Some(Action::Revoke {
                origin,
                scopes,
                common,
            }) => revoke(origin, scopes, common).await,
            Some(Action::Clear { yes, common }) => clear(yes, &common).await,
            Some(Action::Log {
                origin,
                limit,
                output,
            }) => log(origin, limit.into(), output).await,
        }
    })
}

/// With somebody at the terminal: what is asked, then what there is.
async fn alone(output: Output) -> anyhow::Result<()> {
    let person = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if person && !output.json {
        if let Some(server) = running(&output.common)?
            && pending::ask_all(&server).await?
        {
            return Ok(());
        }
    }
    list(output).await
}

/// The running server: pages ask nobody else.
fn asked_server(common: &Common) -> anyhow::Result<ServerClient> {
    running(common)?.context(
        "no Gangway runs on this data folder, so no page asks anything; start one: gangway serve",
    )
}

async fn list(output: Output) -> anyhow::Result<()> {
    let list: PermissionList = ask(&output.common, async |server| server.get(PATH).await).await?;
    if output.json {
        return print_json(&list);
    }
    if list.origins.is_empty() {
        say!("No site was allowed or refused anything.");
    }
    list.origins.iter().for_each(show);
    Ok(())
}

fn show(entry: &OriginPermissions) {
    say!("{}", entry.origin);
    let said = |(_, grant): &(&Scope, &Grant)| **grant != Grant::NotGranted;
    for (scope, grant) in entry.scopes.iter().filter(said) {
        let end = entry.ends.scopes.get(scope);
        let end = end.map(|end| format!(" until {}", end.strftime("%F %R UTC")));
        say!("  {scope}  {grant}{}", end.unwrap_or_default());
    }
    if let Some(tools) = &entry.allowed_tools {
        let names: Vec<_> = tools.iter().map(ToolName::to_string).collect();
        let names = if names.is_empty() {
            "none".into()
        } else {
            names.join(", ")
        };
        say!("  tools: {names}");
    }
    for server in &entry.servers {
        say!("  server: {server}");
    }
    if let Some(at) = entry.last_used {
        say!("  last used: {}", at.strftime("%F %R"));
    }
}

async fn show_pending(output: Output) -> anyhow::Result<()> {
    let asks = pending::asks(&asked_server(&output.common)?).await?;
    if output.json {
        return print_json(&asks);
    }
    if asks.asks.is_empty() {
        say!("No site asks anything.");
    }
    asks.asks.iter().for_each(pending::show);
    Ok(())
}

async fn set(
    what: What,
    grant: Grant,
    tools: Vec<ToolName>,
    duration: Option<GrantDuration>,
) -> anyhow::Result<()> {
    let scopes = what.scopes.into_iter().map(|scope| (scope, grant));
    let scopes: BTreeMap<_, _> = scopes.collect();
    let needs_tools = grant == Grant::Always && scopes.keys().any(|scope| scope.is_for_tools());
    let mut wanted = SetPermissions {
        origin: what.origin,
        scopes: Some(scopes),
        allowed_tools: None,
        servers: None,
        duration,
        budget: None,
    };
    let entry: OriginPermissions = ask(&what.common, async |server| {
        if !tools.is_empty() {
            // Those that were allowed before stay.
            let list: PermissionList = server.get(PATH).await?;
            let mut origins = list.origins.into_iter();
            let known = origins.find(|entry| entry.origin == wanted.origin);
            let kept = known.and_then(|entry| entry.allowed_tools);
            wanted.allowed_tools = Some(kept.into_iter().flatten().chain(tools).collect());
        }
        server.patch(PATH, &wanted).await
    })
    .await?;
    show(&entry);
    if needs_tools && entry.allowed_tools.is_none_or(|tools| tools.is_empty()) {
        say!("It may use no tool yet; name some with --tool SERVER/TOOL.");
    }
    Ok(())
}

async fn revoke(origin: Origin, scopes: Vec<Scope>, common: Common) -> anyhow::Result<()> {
    if scopes.is_empty() {
        let path = format!("{PATH}?origin={}", in_url(origin.as_str()));
        ask(&common, async |server| server.delete(&path).await).await?;
        say!("{origin} may do nothing, and may ask again");
        return Ok(());
    }
    let scopes = scopes.into_iter().map(|scope| (scope, Grant::NotGranted));
    let wanted = SetPermissions {
        origin,
        scopes: Some(scopes.collect()),
        allowed_tools: None,
        servers: None,
        duration: None,
        budget: None,
    };
    let set = async |server: &CommandServer| server.patch(PATH, &wanted).await;
    let entry: OriginPermissions = ask(&common, set).await?;
    show(&entry);
    Ok(())
}

async fn clear(yes: bool, common: &Common) -> anyhow::Result<()> {
    ask(common, async |server| {
        let list: PermissionList = server.get(PATH).await?;
        let count = list.origins.len();
        if !yes {
            anyhow::ensure!(
                std::io::stdin().is_terminal(),
                "this forgets what {count} sites were allowed and refused; say --yes if you mean it"
            );
            let words = format!("Forget what {count} sites were allowed and refused? [y/N] ");
            if pending::typed(&words)?.as_deref() != Some("y") {
                say!("Nothing was changed.");
                return Ok(());
            }
        }
        server.delete(PATH).await?;
        say!("{count} sites are forgotten");
        Ok(())
    })
    .await
}

async fn log(origin: Option<Origin>, limit: usize, output: Output) -> anyhow::Result<()> {
    let of = origin.map(|origin| format!("&origin={}", in_url(origin.as_str())));
    let path = format!("{PATH}/audit?limit={limit}{}", of.unwrap_or_default());
    let page: AuditPage = ask(&output.common, async |server| server.get(&path).await).await?;
    if output.json {
        return print_json(&page);
    }
    for entry in &page.entries {
        let scope = entry.scope.map(|scope| format!("  {scope}"));
        let by = entry.by.as_ref().map(|by| format!("  by {by}"));
        say!(
            "{}  {}{}  {}  {}{}",
            entry.at.strftime("%F %T"),
            entry.origin,
            scope.unwrap_or_default(),
            entry.what,
            entry.outcome,
            by.unwrap_or_default()
        );
    }
    if page.lost > 0 {
        say!("{} uses were too many to write down", page.lost);
    }
    Ok(())
}

/// How much harm a page can do with it.
fn risk(scope: Scope) -> &'static str {
    match scope {
        Scope::ModelList | Scope::ToolsList | Scope::ChatOpen => "low",
        Scope::ModelPrompt | Scope::ActiveTabRead => "medium",
        Scope::ModelTools
        | Scope::ToolsCall
        | Scope::ServersRegister
        | Scope::ActiveTabClick
        | Scope::ActiveTabFill
        | Scope::ActiveTabScreenshot => "high",
    }
}
