//! `gangway permissions`: grants, pending requests and audit log of sites.

mod pending;

use std::{collections::BTreeMap, io::IsTerminal};

use anyhow::Context;
use clap::{
    Args, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use gangway_client::{ServerClient, encode::in_url};
use gangway_core::{Grant, GrantDuration, Origin, Scope, ToolName};
use gangway_http::asks::wire::AskDecision;

use super::{
    Common, block_on, print_json,
    say::say,
    server::{CommandServer, ask_stored, running},
};
use gangway_webagent::permissions::wire::{
    AuditPage, OriginPermissions, PermissionList, SetPermissions,
};

const PATH: &str = "/api/permissions";

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
    /// List the permissions of sites
    List {
        #[command(flatten)]
        output: Output,
    },
    /// List pending permission requests
    Pending {
        #[command(flatten)]
        output: Output,
    },
    /// Answer a permission request
    Answer {
        /// The request's id or a unique prefix, from `gangway permissions pending`
        id: String,
        /// The decision
        decision: DecisionArg,
        /// Allow only this one of the requested tools; may be repeated
        #[arg(long = "tool", value_name = "SERVER/TOOL")]
        tools: Vec<ToolName>,
        /// Allow none of the requested tools
        #[arg(long, conflicts_with = "tools")]
        no_tools: bool,
        /// How long `always` is valid
        #[arg(long = "for", value_name = "TIME", default_value = "30d", value_parser = durations())]
        duration: GrantDuration,
        #[command(flatten)]
        common: Common,
    },
    /// Grant permissions to a site
    Allow {
        #[command(flatten)]
        what: ScopesArg,
        /// How long the permission is valid
        #[arg(long = "for", value_name = "TIME", default_value = "never", value_parser = durations())]
        duration: GrantDuration,
        /// A tool allowed under mcp:tools.call and model:tools; may be repeated
        #[arg(long = "tool", value_name = "SERVER/TOOL")]
        tools: Vec<ToolName>,
    },
    /// Deny permissions to a site; its requests are refused without asking you
    Deny {
        #[command(flatten)]
        what: ScopesArg,
    },
    /// Remove the decisions about a site, or about some scopes; it may ask again
    Revoke {
        /// The site's origin, such as https://shop.example
        origin: Origin,
        /// Only these scopes
        #[arg(value_name = "SCOPE")]
        scopes: Vec<Scope>,
        #[command(flatten)]
        common: Common,
    },
    /// Remove the decisions about all sites
    Clear {
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        common: Common,
    },
    /// Show the audit log of decisions and uses, newest first
    Log {
        /// Only entries of this site
        #[arg(long)]
        origin: Option<Origin>,
        /// The number of entries
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
struct ScopesArg {
    /// The site's origin, such as https://shop.example
    origin: Origin,
    /// A scope, such as model:prompt
    #[arg(required = true, value_name = "SCOPE")]
    scopes: Vec<Scope>,
    #[command(flatten)]
    common: Common,
}

fn durations() -> impl TypedValueParser<Value = GrantDuration> {
    let names = GrantDuration::ALL.map(|(name, _)| name);
    PossibleValuesParser::new(names).map(|name| pending::duration(&name).unwrap_or_default())
}

#[derive(Clone, Copy, ValueEnum)]
enum DecisionArg {
    /// Allow for ten minutes or until the tab is closed
    Once,
    /// Allow for the time given with --for
    Always,
    /// Deny until revoked
    Deny,
}

impl From<DecisionArg> for AskDecision {
    fn from(message: DecisionArg) -> Self {
        match message {
            DecisionArg::Once => Self::Once,
            DecisionArg::Always => Self::Always,
            DecisionArg::Deny => Self::Deny,
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
                say!("Answered.");
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

/// Without a subcommand on a terminal: pending requests first, then grants.
async fn alone(output: Output) -> anyhow::Result<()> {
    let person = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if person
        && !output.json
        && let Some(server) = running(&output.common)?
        && pending::ask_all(&server).await?
    {
        return Ok(());
    }
    list(output).await
}

/// Only the running server has pending requests.
fn asked_server(common: &Common) -> anyhow::Result<ServerClient> {
    running(common)?.context(
        "Gangway is not running, so there are no pending requests; start it: gangway serve",
    )
}

async fn list(output: Output) -> anyhow::Result<()> {
    let list: PermissionList =
        ask_stored(&output.common, async |server| server.get(PATH).await).await?;
    if output.json {
        return print_json(&list);
    }
    if list.origins.is_empty() {
        say!("No site has any permissions.");
    }
    list.origins.iter().for_each(show);
    Ok(())
}

fn show(entry: &OriginPermissions) {
    say!("{}", entry.origin);
    let message = |(_, grant): &(&Scope, &Grant)| **grant != Grant::NotGranted;
    for (scope, grant) in entry.scopes.iter().filter(message) {
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
        say!("There are no pending requests.");
    }
    asks.asks.iter().for_each(pending::show);
    Ok(())
}

async fn set(
    what: ScopesArg,
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
    let entry: OriginPermissions = ask_stored(&what.common, async |server| {
        if !tools.is_empty() {
            // Tools allowed before stay allowed.
            let list: PermissionList = server.get(PATH).await?;
            let mut origins = list.origins.into_iter();
            let known = origins.find(|entry| entry.origin == wanted.origin);
            let stored = known.and_then(|entry| entry.allowed_tools);
            wanted.allowed_tools = Some(stored.into_iter().flatten().chain(tools).collect());
        }
        server.patch(PATH, &wanted).await
    })
    .await?;
    show(&entry);
    if needs_tools && entry.allowed_tools.is_none_or(|tools| tools.is_empty()) {
        say!("No tools are allowed yet; add some with --tool SERVER/TOOL.");
    }
    Ok(())
}

async fn revoke(origin: Origin, scopes: Vec<Scope>, common: Common) -> anyhow::Result<()> {
    if scopes.is_empty() {
        let path = format!("{PATH}?origin={}", in_url(origin.as_str()));
        ask_stored(&common, async |server| server.delete(&path).await).await?;
        say!("Removed all permissions of {origin}; it may ask again");
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
    let entry: OriginPermissions = ask_stored(&common, set).await?;
    show(&entry);
    Ok(())
}

async fn clear(yes: bool, common: &Common) -> anyhow::Result<()> {
    ask_stored(common, async |server| {
        let list: PermissionList = server.get(PATH).await?;
        let count = list.origins.len();
        if !yes {
            anyhow::ensure!(
                std::io::stdin().is_terminal(),
                "this removes the decisions about {count} sites; confirm with --yes"
            );
            let message = format!("Remove the decisions about {count} sites? [y/N] ");
            if pending::typed(&message)?.as_deref() != Some("y") {
                say!("Nothing was changed.");
                return Ok(());
            }
        }
        server.delete(PATH).await?;
        say!("Removed the decisions about {count} sites");
        Ok(())
    })
    .await
}

async fn log(origin: Option<Origin>, limit: usize, output: Output) -> anyhow::Result<()> {
    let of = origin.map(|origin| format!("&origin={}", in_url(origin.as_str())));
    let path = format!("{PATH}/audit?limit={limit}{}", of.unwrap_or_default());
    let page: AuditPage =
        ask_stored(&output.common, async |server| server.get(&path).await).await?;
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
        say!("{} uses were dropped from the log", page.lost);
    }
    Ok(())
}

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
