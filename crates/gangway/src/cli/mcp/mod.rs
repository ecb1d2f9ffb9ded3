//! `gangway mcp`: MCP servers and their tools.

mod import;
mod install;
mod search;

use std::{collections::BTreeMap, ffi::OsString, process::ExitCode, time::Duration};

use anyhow::Context;
use clap::{Args, Subcommand};
use gangway_client::{ErrorResponse, encode::in_url};
use gangway_core::ToolName;
use gangway_tools::{
    entry::ServerEntry,
    wire::{AddServers, CallTool, LogLines, ToolAnswer, ToolList, ToolServerList, ToolServerState},
};
use serde_json::Value;

use super::{
    Common, block_on, print_json,
    say::{complain, say},
    server::{CommandServer, ask, running},
    stdio::{self, StdioArgs},
};

const SERVERS: &str = "/api/mcp/servers";

/// Polling interval of progress.
const LOOK: Duration = Duration::from_millis(250);

/// Polling interval of starting MCP servers.
const STARTING: Duration = Duration::from_millis(50);

#[derive(Args)]
pub struct McpArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Search the catalog
    Search(search::SearchArgs),
    /// Refresh the catalog
    Refresh {
        #[command(flatten)]
        common: Common,
    },
    /// Install a server from the catalog, or a package: npm:NAME[@VERSION] or pypi:NAME[@VERSION]
    Install(install::InstallArgs),
    /// Show which package runtimes are installed on this machine
    Runtimes {
        #[command(flatten)]
        output: Output,
    },
    /// Add a server by URL, or by a command after `--`
    Add {
        /// A name for the server
        name: String,
        /// The server's URL
        #[arg(required_unless_present = "command")]
        url: Option<String>,
        /// An environment variable for the command; ${secret:NAME} inserts a secret
        #[arg(long, value_name = "NAME=VALUE")]
        env: Vec<String>,
        /// A header for every request to the URL
        #[arg(long, value_name = "NAME=VALUE")]
        header: Vec<String>,
        /// The command and its arguments
        #[arg(last = true, conflicts_with = "url")]
        command: Vec<String>,
        #[command(flatten)]
        common: Common,
    },
    /// Import the servers configured in another MCP host: Claude Code, Claude Desktop, Cursor, VS Code, Zed, Gemini,
    /// Windsurf, opencode, Codex or goose
    Import(import::ImportArgs),
    /// List the servers
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Remove a server and its installed package
    Remove {
        /// The server's name
        name: String,
        #[command(flatten)]
        common: Common,
    },
    /// List the tools of all servers
    Tools {
        #[command(flatten)]
        output: Output,
    },
    /// Call a tool and print its result
    Call {
        /// SERVER/TOOL
        tool: ToolName,
        /// The arguments, as a JSON object
        arguments: Option<String>,
        #[command(flatten)]
        common: Common,
    },
    /// Serve everything that /mcp offers over stdio
    Serve(StdioArgs),
    /// Show the logs of a server; Gangway must be running
    Logs {
        /// The server's name
        name: String,
        #[command(flatten)]
        common: Common,
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

/// Runs an MCP server so that it ends with Gangway; internal.
#[derive(Args)]
pub struct GuardArgs {
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

pub(super) fn guard(args: GuardArgs) -> ExitCode {
    gangway_mcp::guard::run(args.command)
}

pub(super) fn run(args: McpArgs) -> anyhow::Result<()> {
    block_on(async {
        match args.action {
            Action::Search(args) => search::run(args).await,
            Action::Refresh { common } => search::refresh(&common).await,
            Action::Install(args) => install::run(args).await,
            Action::Runtimes { output } => search::runtimes(output).await,
            Action::Add {
                name,
                url,
                env,
                header,
                command,
                common,
            } => {
                let mut message = command.into_iter();
                let entry = ServerEntry {
                    command: message.next(),
                    args: message.collect(),
                    url,
                    env: pairs(&env)?,
                    headers: pairs(&header)?,
                    ..ServerEntry::default()
                };
                add(&common, BTreeMap::from([(name, entry)])).await
            }
            Action::Import(args) => import::run(args).await,
            Action::List { output } => list(output).await,
            Action::Remove { name, common } => remove(&name, &common).await,
            Action::Tools { output } => tools(output).await,
            Action::Call {
                tool,
                arguments,
                common,
            } => call(tool, arguments, &common).await,
            Action::Serve(args) => stdio::serve(args).await,
            Action::Logs { name, common } => logs(&name, &common).await,
        }
    })
}

fn pairs(texts: &[String]) -> anyhow::Result<BTreeMap<String, String>> {
    texts
        .iter()
        .map(|text| match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
            // The text may be a secret without a name, so it is not repeated.
            _ => anyhow::bail!("--env, --header, --set and --secret take NAME=VALUE"),
        })
        .collect()
}

async fn add(common: &Common, servers: BTreeMap<String, ServerEntry>) -> anyhow::Result<()> {
    let names: Vec<_> = servers.keys().cloned().collect();
    let request = AddServers { servers };
    let add = async |server: &CommandServer| server.post(SERVERS, &request).await;
    let _: ToolServerList = ask(common, add).await?;
    say!("Added {}", names.join(", "));
    say!("List its tools: gangway mcp tools");
    Ok(())
}

async fn remove(name: &str, common: &Common) -> anyhow::Result<()> {
    let path = format!("{SERVERS}/{}", in_url(name));
    ask(common, async |server| server.delete(&path).await).await?;
    say!("Removed {name}");
    Ok(())
}

async fn list(output: Output) -> anyhow::Result<()> {
    let list: ToolServerList =
        ask(&output.common, async |server| server.get(SERVERS).await).await?;
    if output.json {
        return print_json(&list);
    }
    for one in &list.servers {
        let problem = one.problem.as_deref().unwrap_or_default();
        say!(
            "{}  {:?}  {} tools  {}  {problem}",
            one.id,
            one.state,
            one.tools,
            one.target
        );
    }
    nothing(list.servers.is_empty())
}

fn nothing(empty: bool) -> anyhow::Result<()> {
    if empty {
        say!("There are no MCP servers. Find one: gangway mcp search WORDS");
    }
    Ok(())
}

async fn tools(output: Output) -> anyhow::Result<()> {
    let (list, servers) = ask(&output.common, async |server| {
        if server.is_own() {
            let list: ToolServerList = server.get(SERVERS).await?;
            for one in list.servers {
                start(server, &one.id).await?;
            }
        }
        started(server).await?;
        let list: ToolList = server.get("/api/tools").await?;
        let servers: ToolServerList = server.get(SERVERS).await?;
        Ok((list, servers.servers))
    })
    .await?;
    for one in &servers {
        if let Some(problem) = &one.problem {
            let id = &one.id;
            complain!("{id} has no tools: {problem} (see `gangway mcp logs {id}`)");
        }
    }
    if output.json {
        return print_json(&list);
    }
    for tool in &list.tools {
        say!(
            "{}  {}",
            tool.name,
            tool.description.lines().next().unwrap_or_default()
        );
    }
    if servers.is_empty() && list.tools.is_empty() {
        say!("There are no tools. Find an MCP server: gangway mcp search WORDS");
    }
    Ok(())
}

/// Starts an MCP server in a command's own server, which starts none by itself.
async fn start(server: &CommandServer, id: &str) -> anyhow::Result<()> {
    server
        .post_only(&format!("{SERVERS}/{}/start", in_url(id)), &())
        .await
}

/// Waits until no MCP server is starting for the first time.
async fn started(server: &CommandServer) -> anyhow::Result<()> {
    loop {
        let list: ToolServerList = server.get(SERVERS).await?;
        let starts = list
            .servers
            .iter()
            .any(|one| one.state == ToolServerState::Starting && one.problem.is_none());
        if !starts {
            return Ok(());
        }
        tokio::time::sleep(STARTING).await;
    }
}

async fn call(tool: ToolName, arguments: Option<String>, common: &Common) -> anyhow::Result<()> {
    let args: Value = match arguments.as_deref() {
        None => Value::Object(serde_json::Map::new()),
        Some(text) => serde_json::from_str(text).context("the arguments are not JSON")?,
    };
    let request = CallTool {
        tool: tool.to_string(),
        args,
    };
    let answer: ToolAnswer = ask(common, async |server| {
        // If the server does not exist, the call reports it.
        if server.is_own() && start(server, tool.server()).await.is_ok() {
            started(server).await?;
        }
        let called = server.post_patiently("/api/tools/call", &request).await;
        called.map_err(with_code)
    })
    .await?;
    print_json(&answer.result)
}

/// Adds the error code, for scripts.
fn with_code(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref() {
        Some(ErrorResponse(refused)) => {
            anyhow::anyhow!("{} ({})", refused.message, refused.error_code)
        }
        None => error,
    }
}

async fn logs(name: &str, common: &Common) -> anyhow::Result<()> {
    let server = running(common)?
        .context("Gangway is not running, so there are no logs; start it: gangway serve")?;
    let path = format!("{SERVERS}/{}/logs", in_url(name));
    let lines: LogLines = server.get(&path).await?;
    for line in lines.lines {
        say!("{}  {}  {}", line.at, line.source, line.text);
    }
    Ok(())
}
