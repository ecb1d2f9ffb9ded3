//! The tools of a remote agent: its own MCP servers, started in the project folder.

use std::{path::PathBuf, sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, join_all};
use gangway_core::{SessionId, Tool, ToolError, ToolName, Toolbox};
use gangway_mcp::{State, read_result};
use gangway_runner::{
    builtin::{OwnTools, Servers},
    wire::Setup,
};
use gangway_secrets::Secrets;
use gangway_tools::{ServerSelection, Tools};
use serde_json::Value;
use tokio::sync::watch;

use crate::config::RunnerSettings;

/// How long the first message waits for MCP servers that are still starting.
const STARTING: Duration = Duration::from_secs(10);

pub(super) struct RunnerTools {
    tools: Arc<Tools>,
    folder: PathBuf,
    named: Vec<String>,
    connected: watch::Sender<bool>,
}

impl RunnerTools {
    /// The servers that the project lists; none is started yet.
    pub(super) fn new(settings: &RunnerSettings, secrets: Secrets, setup: &Setup) -> Self {
        let program = super::super::program();
        let program = program.as_deref();
        let (config, data) = (&settings.config, &settings.data);
        let named = setup.mcp_servers.clone().unwrap_or_default();
        let wanted = ServerSelection::These(named.iter().cloned().collect());
        Self {
            tools: Tools::new(
                &config.tool_settings(),
                data,
                secrets,
                program,
                wanted,
                Arc::default(),
            ),
            folder: setup.folder.clone(),
            named,
            connected: watch::Sender::new(false),
        }
    }
}

/// The MCP servers that a project lists.
pub(super) fn named(settings: &RunnerSettings, secrets: Secrets, setup: &Setup) -> Servers {
    let (config, data) = (&settings.config, &settings.data);
    let folder = setup.folder.clone();
    let named = setup.mcp_servers.clone().unwrap_or_default();
    let wanted = ServerSelection::These(named.iter().cloned().collect());
    let tools = Tools::new(
        &config.tool_settings(),
        data,
        secrets,
        None,
        wanted,
        Arc::default(),
    );
    Arc::new(move || tools.specs_in(&folder, &named))
}

impl OwnTools for RunnerTools {
    fn open(&self) {
        let (tools, connected) = (Arc::clone(&self.tools), self.connected.clone());
        let (folder, named) = (self.folder.clone(), self.named.clone());
        tokio::spawn(async move {
            let all = Arc::clone(&tools);
            let find = move || all.specs_in(&folder, &named);
            let specs = tokio::task::spawn_blocking(find).await;
            tools.host.set_up(specs.unwrap_or_default()).await;
            let starting = tools.host.status().into_iter();
            let starting: Vec<_> = starting
                .filter(|one| matches!(one.state, State::Starting { .. }))
                .map(|one| one.id)
                .collect();
            join_all(starting.iter().map(|id| tools.host.ready(id))).await;
            connected.send_replace(true);
        });
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.tools.shutdown())
    }

    fn bounded(&self, session: SessionId, result: Value) -> Value {
        let short = self.tools.host.bound(&session.to_string(), &result);
        short.unwrap_or(result)
    }
}

impl Toolbox for RunnerTools {
    fn tools<'a>(&'a self, _: SessionId, _: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        Box::pin(async {
            let mut connected = self.connected.subscribe();
            // Servers that start later are available for the next message.
            let _ = tokio::time::timeout(STARTING, connected.wait_for(|all| *all)).await;
            self.tools.host.tools()
        })
    }

    fn reader(&self) -> Option<Arc<Tool>> {
        Some(read_result::tool())
    }

    fn call(
        &self,
        session: SessionId,
        tool: ToolName,
        arguments: Value,
    ) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            if read_result::is_read_result(&tool) {
                let caller = session.to_string();
                return read_result::call(&tool, arguments, |handle, offset| {
                    self.tools.host.rest(&caller, handle, offset)
                });
            }
            Toolbox::call(&*self.tools.host, session, tool, arguments).await
        })
    }
}
