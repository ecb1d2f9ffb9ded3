//! `gangway agent`: the process of a remote agent, in a tmux pane.

mod models;
mod own_model;
mod pages;
mod tools;

use std::{ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

use clap::Args;
use gangway_runner::{
    Pane,
    builtin::{BuiltinFactory, BuiltinParts, Servers},
    typing,
    wire::Setup,
};
use gangway_secrets::Secrets;
use models::RunnerModels;
use tools::RunnerTools;

use crate::config::RunnerSettings;

#[derive(Args)]
pub struct AgentArgs {
    /// The file with the agent's ticket
    #[arg(long, value_name = "FILE", required_unless_present = "pages")]
    ticket: Option<PathBuf>,
    /// Connect an MCP client over stdio to the pages of the agent that listens on this socket
    #[arg(long, value_name = "SOCKET", hide = true, conflicts_with = "ticket")]
    pages: Option<PathBuf>,
}

/// Time for blocking tasks to finish at exit.
const LEFT: Duration = Duration::from_secs(1);

pub(super) fn run(args: AgentArgs) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // Many agents share a machine, and each mostly waits.
        .worker_threads(2)
        .enable_all()
        .build()?;
    if let Some(socket) = &args.pages {
        let connected = runtime.block_on(pages::connect(socket));
        // A read of standard input cannot be cancelled.
        runtime.shutdown_background();
        return connected;
    }
    let ticket = args.ticket.unwrap_or_default();
    let ended = runtime.block_on(async {
        let pane = Pane::on(std::io::stdout());
        let typed = typing::lines(pane.clone());
        let stop = typing::told_to_end(pane.clone());
        gangway_runner::run(&ticket, &Bench, pane, typed, stop).await
    });
    runtime.shutdown_timeout(LEFT);
    Ok(ended?)
}

/// Builds models and tools from the server's settings.
struct Bench;

impl BuiltinFactory for Bench {
    fn parts(&self, setup: &Setup) -> Result<BuiltinParts, String> {
        let settings: RunnerSettings = serde_json::from_value(setup.settings.clone())
            .map_err(|error| format!("cannot parse the server's settings: {error}"))?;
        let secrets = Secrets::open(&settings.data, settings.config.secrets);
        Ok(BuiltinParts {
            max_tool_calls: settings.config.tools.calls_per_turn,
            tools: Arc::new(RunnerTools::new(&settings, secrets.clone(), setup)),
            models: Arc::new(RunnerModels::new(settings, secrets)),
        })
    }

    fn servers(&self, setup: &Setup) -> Servers {
        let settings: Result<RunnerSettings, _> = serde_json::from_value(setup.settings.clone());
        match settings {
            Ok(settings) => {
                let secrets = Secrets::open(&settings.data, settings.config.secrets);
                tools::named(&settings, secrets, setup)
            }
            // Without settings no MCP server is configured.
            Err(_) => Arc::new(Vec::new),
        }
    }

    fn page_server(&self) -> Option<Vec<OsString>> {
        // The agent starts it, for which `/proc/self` would be the agent.
        let own = match std::env::current_exe() {
            Ok(path) if path.exists() => path.into(),
            // Another version was installed in its place.
            _ => format!("/proc/{}/exe", std::process::id()).into(),
        };
        Some(vec![own, "agent".into(), "--pages".into()])
    }

    fn guard(&self) -> Vec<OsString> {
        let own = super::program();
        own.map(|own| vec![own, gangway_tools::GUARD.into(), "--".into()])
            .unwrap_or_default()
    }
}
