//! The service: all remote agents, and what they use of the server.

use std::{ffi::OsString, path::Path, sync::Arc};

use gangway_core::{Hub, Result, SessionId, Store};
use gangway_providers::Models;
use gangway_runner::tmux::Tmux;
use gangway_workspaces::Workspaces;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    AgentId, LiveAgent, LiveAgents, Record, Registry, RemoteConfig, RemoteSettings,
    folders::AgentFolders, once::Requests,
};

/// Uploads in memory at once.
const UPLOADS: usize = 4;

/// The settings of the server as the built-in loop of a runner reads them. They hold keys.
pub type RunnerSettingsFn = Box<dyn Fn() -> serde_json::Result<Value> + Send + Sync>;

/// What remote agents use of the server.
pub struct Services {
    /// The agents there are.
    pub live: Arc<LiveAgents>,
    /// The sessions.
    pub hub: Arc<Hub>,
    /// Which folders agents may work in.
    pub workspaces: Arc<Workspaces>,
    /// The keys of model providers, and the secrets.
    pub models: Arc<Models>,
    /// What runners are given of the server's settings.
    pub runner_settings: RunnerSettingsFn,
    /// This program, which is also the runner.
    pub program: Option<OsString>,
    /// Cancelled when the server begins to stop.
    pub stop: CancellationToken,
}

/// All remote agents.
pub struct RemoteAgents {
    /// Projects and personas.
    pub registry: Registry,
    /// Uploads that are held in memory; others wait.
    pub uploads: Semaphore,
    pub(crate) config: RemoteConfig,
    pub(crate) store: Store,
    pub(crate) tmux: Tmux,
    pub(crate) folders: AgentFolders,
    pub(crate) live: Arc<LiveAgents>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) workspaces: Arc<Workspaces>,
    pub(crate) models: Arc<Models>,
    pub(crate) runner_settings: RunnerSettingsFn,
    pub(crate) program: Option<OsString>,
    pub(crate) requests: Requests,
    /// Cancelled once what an earlier server left is sorted out; none is made before.
    pub(crate) recovered: CancellationToken,
    /// Agents of before this server, until it was seen which of them are there.
    pub(crate) unsettled: tokio::sync::Mutex<Vec<Arc<LiveAgent>>>,
    /// What is made and ended just now; a stop waits for it.
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
}

impl RemoteAgents {
    /// The agents of this data folder.
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

    /// The agent with this id.
    #[must_use]
    pub fn get(&self, id: &AgentId) -> Option<Arc<LiveAgent>> {
        self.live.get(id)
    }

    /// The agent of a session.
    #[must_use]
    pub fn of_session(&self, session: SessionId) -> Option<Arc<LiveAgent>> {
        self.live.of_session(session)
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<LiveAgent>> {
        self.live.all()
    }

    /// The command by which a person on this machine joins an agent.
    #[must_use]
    pub fn attach(&self, agent: &LiveAgent) -> Vec<OsString> {
        self.tmux.attach(&agent.record().tmux)
    }

    /// Changes what is kept of an agent.
    pub async fn change<T>(
        &self,
        agent: &LiveAgent,
        change: impl FnOnce(&mut Record) -> Option<T>,
    ) -> Result<Option<T>> {
        agent.change(&self.store, change).await
    }

    /// Waits until nothing is made or ended any more.
    pub async fn finish(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// The tmux server of the agents of a data folder.
pub fn tmux_of(data: &Path) -> std::io::Result<Tmux> {
    Ok(Tmux::at(&AgentFolders::new(data)?.tmux()))
}

/// This program, by a name that means it to tmux as well: `self` would be tmux there.
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
