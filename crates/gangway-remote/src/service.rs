//! The service: all remote agents and their dependencies.

use std::{ffi::OsString, path::Path, sync::Arc};

use gangway_core::{Hub, Result, SessionId, Store};
use gangway_providers::Models;
use gangway_runner::tmux::Tmux;
use gangway_workspaces::Workspaces;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    AgentId, LiveAgent, LiveAgents, Record, Registry, RemoteConfig, RemoteSettings, SessionPages,
    folders::AgentFolders, idempotency::Requests,
};

/// Concurrent uploads, which are held in memory.
const UPLOADS: usize = 4;

/// Creates the server's settings for the built-in agent of a runner. They contain API keys.
pub type RunnerSettingsFn = Box<dyn Fn() -> serde_json::Result<Value> + Send + Sync>;

pub struct Services {
    pub live: Arc<LiveAgents>,
    pub hub: Arc<Hub>,
    pub pages: Arc<dyn SessionPages>,
    pub workspaces: Arc<Workspaces>,
    /// API keys of providers, and secrets.
    pub models: Arc<Models>,
    pub runner_settings: RunnerSettingsFn,
    /// The path of this program, which is also the runner.
    pub program: Option<OsString>,
    /// Cancelled when the server begins to stop.
    pub stop: CancellationToken,
}

pub struct RemoteAgents {
    pub registry: Registry,
    /// Limits uploads in memory.
    pub uploads: Semaphore,
    pub(crate) config: RemoteConfig,
    pub(crate) store: Store,
    pub(crate) tmux: Tmux,
    pub(crate) folders: AgentFolders,
    pub(crate) live: Arc<LiveAgents>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) pages: Arc<dyn SessionPages>,
    pub(crate) workspaces: Arc<Workspaces>,
    pub(crate) models: Arc<Models>,
    pub(crate) runner_settings: RunnerSettingsFn,
    pub(crate) program: Option<OsString>,
    pub(crate) requests: Requests,
    /// Cancelled once recovery is done; no agent is created before.
    pub(crate) recovered: CancellationToken,
    /// Agents of the previous run that have not been checked yet.
    pub(crate) unsettled: tokio::sync::Mutex<Vec<Arc<LiveAgent>>>,
    /// Creations and endings in progress; a shutdown waits for them.
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
}

impl RemoteAgents {
    pub fn new(settings: &RemoteSettings, data: &Path, services: Services) -> Result<Arc<Self>> {
        let folders = AgentFolders::new(data).map_err(|error| {
            gangway_core::Error::Storage(format!("the folder of agents: {error}"))
        })?;
        let store = services.hub.store().clone();
        Ok(Arc::new(Self {
            registry: Registry::new(settings, store.clone(), data),
            uploads: Semaphore::new(UPLOADS),
            config: settings.remote.clone(),
            tmux: Tmux::at(&folders.tmux()),
            store,
            folders,
            unsettled: tokio::sync::Mutex::new(services.live.all()),
            live: services.live,
            hub: services.hub,
            pages: services.pages,
            workspaces: services.workspaces,
            models: services.models,
            runner_settings: services.runner_settings,
            program: services.program.map(for_others),
            requests: Requests::default(),
            recovered: CancellationToken::new(),
            tasks: TaskTracker::new(),
            stop: services.stop,
        }))
    }

    #[must_use]
    pub fn get(&self, id: &AgentId) -> Option<Arc<LiveAgent>> {
        self.live.get(id)
    }

    #[must_use]
    pub fn of_session(&self, session: SessionId) -> Option<Arc<LiveAgent>> {
        self.live.of_session(session)
    }

    #[must_use]
    pub fn all(&self) -> Vec<Arc<LiveAgent>> {
        self.live.all()
    }

    /// The command that attaches a terminal to an agent.
    #[must_use]
    pub fn attach(&self, agent: &LiveAgent) -> Vec<OsString> {
        self.tmux.attach(&agent.record().tmux)
    }

    pub async fn change<T>(
        &self,
        agent: &LiveAgent,
        change: impl FnOnce(&mut Record) -> Option<T>,
    ) -> Result<Option<T>> {
        agent.change(&self.store, change).await
    }

    /// Waits for creations and endings in progress.
    pub async fn finish(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// The tmux server of a data folder's agents.
pub fn tmux_of(data: &Path) -> std::io::Result<Tmux> {
    Ok(Tmux::at(&AgentFolders::new(data)?.tmux()))
}

/// The path of this program for tmux: `/proc/self` would be tmux there.
fn for_others(program: OsString) -> OsString {
    if program != "/proc/self/exe" {
        return program;
    }
    match std::env::current_exe() {
        Ok(path) if path.exists() => path.into(),
        // Another version was installed in its place.
        _ => format!("/proc/{}/exe", std::process::id()).into(),
    }
}
