//! `gangway agents`: manages remote agents.

use clap::{Args, Subcommand};
use gangway_client::ServerClient;
use gangway_remote::{
    tmux_of,
    wire::{AgentHandOver, AgentShutdown, RemoteAgentInfo, RemoteAgentList},
};
use gangway_runner::tmux::Tmux;
use serde_json::{Value, json};

use super::{
    Output,
    adopt::{self, AdoptArgs},
    agents_server,
};
use crate::cli::{Common, block_on, print_json, say::say};

#[derive(Args)]
pub struct AgentsArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List agents and their states
    List {
        /// Include agents that have ended
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Adopt a program that runs in your own tmux, such as a coding agent, as a remote agent
    Adopt(AdoptArgs),
    /// Attach this terminal to an agent; Ctrl-b d detaches
    Attach {
        #[command(flatten)]
        which: AgentArg,
    },
    /// Stop an agent
    Stop {
        #[command(flatten)]
        which: AgentArg,
    },
    /// Let an agent continue from a summary in a fresh context, starting with its next message
    HandOver {
        #[command(flatten)]
        which: AgentArg,
    },
    /// Print the conversation with an agent
    Logs {
        #[command(flatten)]
        which: AgentArg,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
struct AgentArg {
    /// The agent's id, a unique prefix of it, or its tmux session
    agent: String,
    #[command(flatten)]
    common: Common,
}

pub(in crate::cli) fn run(args: AgentsArgs) -> anyhow::Result<()> {
    block_on(async {
        match args.action {
            Action::List { all, output } => list(all, &output).await,
            Action::Adopt(args) => adopt::run(args).await,
            Action::Attach { which } => {
                let agent = which.find(&agents_server(&which.common)?).await?;
                anyhow::ensure!(agent.alive, "this agent has ended");
                let tmux: Tmux = tmux_of(&which.common.data()?)?;
                Ok(tmux.join(&agent.tmux_session_name).await?)
            }
            Action::Stop { which } => {
                let server = agents_server(&which.common)?;
                let agent = which.find(&server).await?;
                let path = format!("/api/remote_agents/{}", agent.agent_id);
                let done: AgentShutdown = server.delete_for(&path).await?;
                say!("{}", done.message);
                Ok(())
            }
            Action::HandOver { which } => {
                let server = agents_server(&which.common)?;
                let agent = which.find(&server).await?;
                let path = format!("/api/remote_agents/hand_over/{}", agent.agent_id);
                let asked: AgentHandOver = server.post(&path, &json!({})).await?;
                say!("{}", asked.message);
                Ok(())
            }
            Action::Logs { which, json } => {
                let server = agents_server(&which.common)?;
                let agent = which.find(&server).await?;
                logs(&server, &agent, json).await
            }
        }
    })
}

impl AgentArg {
    async fn find(&self, server: &ServerClient) -> anyhow::Result<RemoteAgentInfo> {
        let list: RemoteAgentList = server.get("/api/remote_agents").await?;
        let wanted = self.agent.as_str();
        let mut found = list.agents.into_iter().filter(|agent| {
            agent.tmux_session_name == wanted
                || (!wanted.is_empty() && agent.agent_id.starts_with(wanted))
        });
        match (found.next(), found.next()) {
            (Some(agent), None) => Ok(agent),
            (None, _) => anyhow::bail!(
                "agent {wanted:?} not found; `gangway agents list --all` shows all agents"
            ),
            (Some(_), Some(_)) => {
                anyhow::bail!("several agents begin with {wanted:?}; use a longer prefix")
            }
        }
    }
}

async fn list(all: bool, output: &Output) -> anyhow::Result<()> {
    let server = agents_server(&output.common)?;
    let mut list: RemoteAgentList = server.get("/api/remote_agents").await?;
    list.agents.retain(|agent| all || agent.alive);
    if output.json {
        return print_json(&list);
    }
    if list.agents.is_empty() {
        say!("There are no agents. Sites create them with POST /api/remote_agents/create.");
    }
    for agent in list.agents {
        let state = match (&agent.state, agent.attached) {
            (None, _) => format!("ended: {}", agent.ended_reason.unwrap_or_default()),
            (Some(state), true) => state.clone(),
            (Some(state), false) => format!("{state}, not connected"),
        };
        let since = agent.last_active_at.strftime("%F %R");
        say!(
            "{}  {}  {}  {since}  {state}",
            agent.agent_id,
            agent.tmux_session_name,
            agent.persona_slug
        );
    }
    Ok(())
}

/// Page size of the history.
const PAGE: usize = 2000;

async fn logs(server: &ServerClient, agent: &RemoteAgentInfo, json: bool) -> anyhow::Result<()> {
    let mut pages = Vec::new();
    let mut before = String::new();
    loop {
        let path = format!(
            "/api/history?session={}&limit={PAGE}{before}",
            agent.session_id
        );
        let page: Value = server.get(&path).await?;
        let older = page["older"] == true;
        let first = page["entries"][0]["seq"].as_u64();
        pages.push(page);
        match first {
            Some(first) if older => before = format!("&before={first}"),
            _ => break,
        }
    }
    let entries = pages
        .iter()
        .rev()
        .filter_map(|page| page["entries"].as_array());
    let entries: Vec<_> = entries.flatten().collect();
    if json {
        return print_json(&entries);
    }
    for entry in entries {
        let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        let line = match text("role").as_str() {
            "tool" => format!("tool {}: {}", text("tool"), text("state")),
            "question" => format!("question: {} {}", text("question"), answered(entry)),
            role => match entry["content"].as_str().or(entry["message"].as_str()) {
                Some(message) => format!("{role}: {message}"),
                None => role.to_owned(),
            },
        };
        say!("{}  {line}", text("at"));
    }
    Ok(())
}

fn answered(entry: &Value) -> String {
    match entry["answer"].as_str() {
        Some(answer) => format!("-> {answer}"),
        None => "(not answered)".into(),
    }
}
