//! Agents that others make over REST: each is a session here, and a process in a tmux session of its own.

mod adopt;
mod create;
mod end;
mod equip;
mod hand_over;
mod id;
mod line;
mod live;
mod member;
mod not_made;
mod once;
mod persona_text;
mod place;
mod record;
mod recover;
mod shelf;
#[cfg(unix)]
mod socket;
mod state;
mod thinker;
mod tokens;
mod watch;

use std::{ffi::OsString, path::Path, sync::Arc};

use gangway_core::{Hub, Result, SessionId, Store};
use gangway_providers::Models;
use gangway_runner::tmux::Tmux;
use gangway_workspaces::Workspaces;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use adopt::Adoption;
pub use create::{Made, Wish};
pub use end::Ended;
pub use hand_over::NotHandedOver;
pub use id::AgentId;
pub use line::{Line, Seen};
pub use live::LiveAgents;
pub use member::Member;
pub use not_made::NotMade;
pub use persona_text::Texts;
pub use record::{AdoptedRecord, Flags, Phase, Record};
pub use shelf::{KeptIn, NotKept, Shelf, read as read_persona};
pub use state::{AgentState, Progress, asked_at};
pub use thinker::{AGENT, Thinker};
pub use tokens::{TokenKind, new_token};

use crate::config::{RemoteConfig, RemoteSettings};
use once::Requests;
use place::Place;

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
    pub shelf: Shelf,
    /// Uploads that are held in memory; others wait.
    pub uploads: Semaphore,
    config: RemoteConfig,
    store: Store,
    tmux: Tmux,
    place: Place,
    live: Arc<LiveAgents>,
    hub: Arc<Hub>,
    workspaces: Arc<Workspaces>,
    models: Arc<Models>,
    runner_settings: RunnerSettingsFn,
    program: Option<OsString>,
    requests: Requests,
    /// Cancelled once what an earlier server left is sorted out; none is made before.
    recovered: CancellationToken,
    /// Agents of before this server, until it was seen which of them are there.
    unsettled: tokio::sync::Mutex<Vec<Arc<Member>>>,
    /// What is made and ended just now; a stop waits for it.
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl RemoteAgents {
    /// The agents of this data folder.
    pub fn new(settings: &RemoteSettings, data: &Path, services: Services) -> Result<Arc<Self>> {
        let place = Place::new(data).map_err(|error| {
            gangway_core::Error::Storage(format!("the folder of agents: {error}"))
        })?;
        let store = services.hub.store().clone();
        Ok(Arc::new(Self {
            shelf: Shelf::new(settings, store.clone(), data),
            uploads: Semaphore::new(UPLOADS),
            config: settings.remote.clone(),
            tmux: Tmux::at(&place.tmux()),
            store,
            place,
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
    pub fn get(&self, id: &AgentId) -> Option<Arc<Member>> {
        self.live.get(id)
    }

    /// The agent of a session.
    #[must_use]
    pub fn of_session(&self, session: SessionId) -> Option<Arc<Member>> {
        self.live.of_session(session)
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Member>> {
        self.live.all()
    }

    /// The command by which a person on this machine joins an agent.
    #[must_use]
    pub fn attach(&self, member: &Member) -> Vec<OsString> {
        self.tmux.attach(&member.record().tmux)
    }

    /// Changes what is kept of an agent.
    pub async fn change<T>(
        &self,
        member: &Member,
        change: impl FnOnce(&mut Record) -> Option<T>,
    ) -> Result<Option<T>> {
        member.change(&self.store, change).await
    }

    /// Waits until nothing is made or ended any more.
    pub async fn finish(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// The tmux server of the agents of a data folder.
pub fn tmux_of(data: &Path) -> std::io::Result<Tmux> {
    Ok(Tmux::at(&Place::new(data)?.tmux()))
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
