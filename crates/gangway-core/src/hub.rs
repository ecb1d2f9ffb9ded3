//! All sessions: stored ones, and live ones in memory.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio_util::task::TaskTracker;

use crate::{
    agent::Agents,
    error::{Error, Result},
    event::{self, Event},
    handle::HubHandle,
    id::SessionId,
    log::Log,
    session::{Profile, Session},
    store::{Append, Expect, Put, Store},
    worker,
};

/// Limits of a session.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum number of queued messages.
    pub queued_prompts: usize,
    /// How long an unused session stays in memory.
    pub idle: Duration,
    /// Number of events that a session keeps when it is loaded; 0 keeps all.
    pub kept_events: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            queued_prompts: 32,
            idle: Duration::from_secs(60),
            kept_events: 0,
        }
    }
}

/// All sessions.
pub struct Hub {
    pub(crate) store: Store,
    pub(crate) agents: Agents,
    pub(crate) limits: Limits,
    live: Mutex<HashMap<SessionId, Arc<Session>>>,
    workers: TaskTracker,
    stopping: AtomicBool,
}

/// Settings of a new session.
#[derive(Debug, Clone, Default)]
pub struct NewSession {
    /// The title; default is the first message.
    pub title: Option<String>,
    /// The working folder.
    pub cwd: String,
    /// The model.
    pub model: Option<String>,
    /// The agent; default is the default agent.
    pub agent: Option<String>,
    /// Whether it exists for a single task.
    pub ephemeral: bool,
}

/// A page of sessions, newest first.
pub struct Listing {
    /// The sessions, with whether a turn is running.
    pub sessions: Vec<(SessionId, Profile, bool)>,
    /// The cursor of the next page.
    pub next: Option<SessionId>,
}

pub(crate) fn profile_key(id: SessionId) -> String {
    format!("session/{id}")
}

/// Marks a session with unfinished turns; its value is the number up to which all turns are finished.
pub(crate) fn busy_key(id: SessionId) -> String {
    format!("busy/{id}")
}

impl Hub {
    /// The sessions of this store.
    #[must_use]
    pub fn new(store: Store, agents: Agents, limits: Limits) -> Arc<Self> {
        Arc::new(Self::of(store, agents, limits))
    }

    /// The sessions of this store, with agents that need the hub. `make` gets a handle that is valid once the hub
    /// exists, and may return other objects it created.
    pub fn new_cyclic<T, E>(
        store: Store,
        limits: Limits,
        make: impl FnOnce(HubHandle) -> std::result::Result<(Agents, T), E>,
    ) -> std::result::Result<(Arc<Self>, T), E> {
        let mut made = None;
        let hub = Arc::new_cyclic(|hub| {
            let agents = match make(HubHandle::new(hub)) {
                Ok((agents, more)) => {
                    made = Some(Ok(more));
                    agents
                }
                Err(error) => {
                    made = Some(Err(error));
                    Agents::none()
                }
            };
            Self::of(store, agents, limits)
        });
        match made {
            Some(Ok(more)) => Ok((hub, more)),
            Some(Err(error)) => Err(error),
            None => unreachable!("`Arc::new_cyclic` calls its closure"),
        }
    }

    fn of(store: Store, agents: Agents, limits: Limits) -> Self {
        Self {
            store,
            agents,
            limits,
            live: Mutex::default(),
            workers: TaskTracker::new(),
            stopping: AtomicBool::new(false),
        }
    }

    /// The agents.
    #[must_use]
    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Creates a session; it is durable when this returns.
    pub async fn create(&self, id: SessionId, spec: NewSession) -> Result<Profile> {
        let agent = spec
            .agent
            .unwrap_or_else(|| self.agents.default_name().to_owned());
        self.agents.get(&agent)?;
        let now = event::now();
        let profile = Profile {
            title: spec.title,
            cwd: spec.cwd,
            model: spec.model,
            agent,
            created_at: now,
            updated_at: now,
            ephemeral: spec.ephemeral,
        };
        let records = vec![Put::new(profile_key(id), &profile, Expect::Absent)?];
        let events = vec![Event::Created {
            profile: profile.clone(),
        }];
        let append = Append {
            session: id,
            events,
            records,
            log: None,
            once: None,
        };
        let written = self.store.append_to_keep(append).await?;
        self.store.keep(written.commit).await?;
        Ok(profile)
    }

    /// The live session with this id, loaded from the store if necessary.
    pub async fn open(self: &Arc<Self>, id: SessionId) -> Result<Arc<Session>> {
        let session = {
            let mut live = self.live.lock();
            // Under the same lock as `stop`, so that no session is loaded during it.
            if self.stopping.load(Ordering::Acquire) {
                return Err(Error::Stopping);
            }
            let wake = || worker::start(self, id, &self.workers);
            Arc::clone(live.entry(id).or_insert_with(wake))
        };
        session.loaded().await?;
        Ok(session)
    }

    /// The settings of a session and whether a turn is running, without loading the session.
    pub async fn describe(&self, id: SessionId) -> Result<(Profile, bool)> {
        if let Some(session) = self.awake(id)
            && let Ok(profile) = session.profile()
        {
            return Ok((profile, session.is_running()));
        }
        let record = self
            .store
            .get(&profile_key(id))
            .await?
            .ok_or(Error::SessionNotFound(id))?;
        Ok((record.value, false))
    }

    /// Sessions that were created before `before`, newest first, without those for a single task.
    pub async fn list(&self, before: Option<SessionId>, limit: usize) -> Result<Listing> {
        let mut sessions = Vec::with_capacity(limit + 1);
        let mut before = before.map(profile_key);
        loop {
            let rows = self
                .store
                .list::<Profile>("session/", before.as_deref(), limit + 1)
                .await?;
            let all = rows.len() <= limit;
            before = rows.last().map(|(key, _)| key.clone());
            for (key, record) in rows {
                let id = key.trim_start_matches("session/").parse();
                let id = id.map_err(|e| Error::Storage(format!("{e}")))?;
                if !record.value.ephemeral {
                    let running = self.awake(id).is_some_and(|session| session.is_running());
                    sessions.push((id, record.value, running));
                }
            }
            if all || sessions.len() > limit {
                break;
            }
        }
        let more = sessions.len() > limit;
        sessions.truncate(limit);
        let next = if more {
            sessions.last().map(|(id, ..)| *id)
        } else {
            None
        };
        Ok(Listing { sessions, next })
    }

    /// Sessions for a single task that were last used before then.
    pub async fn left_over(&self, then: jiff::Timestamp) -> Result<Vec<SessionId>> {
        let mut found = Vec::new();
        let mut before: Option<String> = None;
        loop {
            let rows = self
                .store
                .list::<Profile>("session/", before.as_deref(), 256)
                .await?;
            let Some((last, _)) = rows.last() else {
                return Ok(found);
            };
            before = Some(last.clone());
            for (key, record) in &rows {
                if record.value.ephemeral
                    && record.value.updated_at < then
                    && let Ok(id) = key.trim_start_matches("session/").parse()
                {
                    found.push(id);
                }
            }
        }
    }

    /// Loads every session with interrupted turns, which marks them and continues with queued messages.
    pub async fn recover(self: &Arc<Self>) -> Result<usize> {
        let mut found = 0;
        let mut before: Option<String> = None;
        loop {
            let page = self
                .store
                .list::<u64>("busy/", before.as_deref(), 64)
                .await?;
            let Some((last, _)) = page.last() else {
                return Ok(found);
            };
            before = Some(last.clone());
            for (key, _) in page {
                let Ok(id) = key.trim_start_matches("busy/").parse() else {
                    continue;
                };
                match self.open(id).await {
                    Ok(_) => found += 1,
                    Err(error) => {
                        tracing::warn!(session = %id, %error, "cannot recover a session")
                    }
                }
            }
        }
    }

    /// Whether a turn is running in any session.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.live
            .lock()
            .values()
            .any(|session| session.is_running())
    }

    /// The number of sessions in memory.
    #[must_use]
    pub fn awake_count(&self) -> usize {
        self.live.lock().len()
    }

    /// Stops every turn, marks it as interrupted and ends all subscriptions.
    pub async fn shut_down(&self) {
        let awake: Vec<_> = {
            let live = self.live.lock();
            self.stopping.store(true, Ordering::Release);
            live.values().cloned().collect()
        };
        for session in awake {
            session.shut_down().await;
        }
        self.workers.close();
        self.workers.wait().await;
    }

    /// Removes a session from memory unless it is in use.
    pub(crate) fn release(&self, id: SessionId) -> bool {
        let mut live = self.live.lock();
        // The map holds the only reference; a new one can only be taken under this lock.
        let unused = live
            .get(&id)
            .is_none_or(|session| Arc::strong_count(session) == 1);
        if unused {
            live.remove(&id);
        }
        unused
    }

    /// Removes the session with this log, even if it is in use; a newer live one stays.
    pub(crate) fn forget(&self, id: SessionId, log: &Log) {
        let mut live = self.live.lock();
        if live
            .get(&id)
            .is_some_and(|session| std::ptr::eq(session.log(), log))
        {
            live.remove(&id);
        }
    }

    fn awake(&self, id: SessionId) -> Option<Arc<Session>> {
        self.live.lock().get(&id).cloned()
    }
}
