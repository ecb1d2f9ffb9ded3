//! Agents that others make over REST: each is a session here, and a process in a tmux session of its own.

mod adopt;
mod create;
mod end;
mod equip;
mod hand_over;
mod id;
mod line;
mod member;
mod not_made;
mod once;
mod persona_text;
mod place;
mod record;
mod recover;
pub mod settings;
mod shelf;
#[cfg(unix)]
mod socket;
mod state;
mod thinker;
mod tokens;
mod watch;

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use gangway_core::{Result, SessionId, Store};
use gangway_providers::Models;
use gangway_runner::tmux::Tmux;
use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use adopt::Adoption;
pub use create::{Made, Wish};
pub use end::Ended;
pub use hand_over::NotHandedOver;
pub use id::AgentId;
pub use line::{Line, Seen};
pub use member::Member;
pub use not_made::NotMade;
pub use persona_text::Texts;
pub use record::{AdoptedRecord, Flags, Phase, Record};
pub use shelf::{KeptIn, NotKept, Shelf, read as read_persona};
pub use state::{AgentState, Progress, asked_at};
pub use thinker::{AGENT, Thinker};
pub use tokens::{TokenKind, new_token};

use crate::config::Config;
use once::Requests;
use place::Place;

/// Uploads in memory at once.
const UPLOADS: usize = 4;

/// All remote agents.
pub struct RemoteAgents {
    /// Projects and personas.
    pub shelf: Shelf,
    /// Uploads that are held in memory; others wait.
    pub uploads: Semaphore,
    store: Store,
    tmux: Tmux,
    place: Place,
    equipment: Equipment,
    members: Mutex<Members>,
    requests: Requests,
    /// Cancelled once what an earlier server left is sorted out; none is made before.
    recovered: CancellationToken,
    /// Agents of before this server, until it was seen which of them are there.
    unsettled: tokio::sync::Mutex<Vec<Arc<Member>>>,
    /// What is made and ended just now; a stop waits for it.
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// What runners are made with.
struct Equipment {
    config: Config,
    data: PathBuf,
    models: Arc<Models>,
    program: Option<OsString>,
}

#[derive(Default)]
struct Members {
    by_id: BTreeMap<AgentId, Arc<Member>>,
    by_session: HashMap<SessionId, AgentId>,
    /// Agents that are being made, by who makes them.
    making: BTreeMap<String, usize>,
}

impl RemoteAgents {
    /// The agents of this store.
    pub async fn load(
        config: &Config,
        data: &Path,
        store: Store,
        models: &Arc<Models>,
        program: Option<OsString>,
        stop: CancellationToken,
    ) -> Result<Arc<Self>> {
        let place = Place::new(data).map_err(|error| {
            gangway_core::Error::Storage(format!("the folder of agents: {error}"))
        })?;
        let mut members = Members::default();
        for (id, record) in Record::all(&store).await? {
            members.add(Arc::new(Member::new(id, record, stop.clone())));
        }
        let unsettled = members.by_id.values().cloned().collect();
        let equipment = Equipment {
            config: config.clone(),
            data: std::path::absolute(data).unwrap_or_else(|_| data.to_owned()),
            models: Arc::clone(models),
            program: program.map(for_others),
        };
        Ok(Arc::new(Self {
            shelf: Shelf::new(config, store.clone(), data),
            uploads: Semaphore::new(UPLOADS),
            tmux: Tmux::at(&place.tmux()),
            store,
            place,
            equipment,
            members: Mutex::new(members),
            requests: Requests::default(),
            recovered: CancellationToken::new(),
            unsettled: tokio::sync::Mutex::new(unsettled),
            tasks: TaskTracker::new(),
            stop,
        }))
    }

    /// The agent with this id.
    #[must_use]
    pub fn get(&self, id: &AgentId) -> Option<Arc<Member>> {
        self.members().by_id.get(id).cloned()
    }

    /// The agent of a session.
    #[must_use]
    pub fn of_session(&self, session: SessionId) -> Option<Arc<Member>> {
        let members = self.members();
        members
            .by_id
            .get(members.by_session.get(&session)?)
            .cloned()
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Member>> {
        self.members().by_id.values().cloned().collect()
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

    fn members(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Members {
    fn add(&mut self, member: Arc<Member>) {
        self.by_session.insert(member.session, member.id.clone());
        self.by_id.insert(member.id.clone(), member);
    }

    /// Adds an agent, unless another one has adopted the same program.
    fn add_unless_adopted(&mut self, member: &Arc<Member>) -> std::result::Result<(), AgentId> {
        match self.adopter_of(member) {
            Some(other) => Err(other),
            None => {
                self.add(Arc::clone(member));
                Ok(())
            }
        }
    }

    /// Another agent that lives and has adopted the same program.
    fn adopter_of(&self, member: &Member) -> Option<AgentId> {
        let wanted = member.record().adopted?.pane;
        let mut others = self.by_id.values().filter(|other| !other.is_over());
        let same = others.find(|other| {
            let adopted = other.record().adopted;
            adopted.is_some_and(|adopted| {
                adopted.pane.socket == wanted.socket && adopted.pane.pane == wanted.pane
            })
        });
        same.map(|other| other.id.clone())
    }

    fn remove(&mut self, id: &AgentId) {
        if let Some(member) = self.by_id.remove(id) {
            self.by_session.remove(&member.session);
        }
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
