//! The task of a live session: it processes commands in order, runs one turn at a time and unloads the session when
//! idle.

mod apps;
mod consents;
mod execute;
mod states;
#[cfg(test)]
mod tests;
mod turns;

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::sync::{mpsc, watch};
use tokio_util::{
    sync::CancellationToken,
    task::{AbortOnDropHandle, TaskTracker},
};
use turns::{finished, halt};

use crate::{
    agent::{AgentError, Agents},
    command::{Command, Receipt},
    consent,
    draft::SharedDraft,
    error::{Error, Result},
    event::{Event, Outcome, Source, Usage},
    hub::{self, Hub},
    id::{SessionId, Slug},
    log::{Log, SubscriptionEnd},
    recovery::QueuedMessage,
    session::{Profile, Request, Session, Status},
    state::{self, AppletState},
    store::{Append, Commit, Put, Store, Written},
    turn::mark_key,
};

/// Capacity of a session's command queue; more callers wait outside.
const WAITING_COMMANDS: usize = 64;

/// Interval of attempts to unload a session that still has readers.
const SHORTEST_REST: Duration = Duration::from_millis(50);

type TurnResult = std::result::Result<Option<Usage>, AgentError>;

struct Running {
    turn: u64,
    source: Source,
    cancel: CancellationToken,
    /// Aborted on drop, so that no agent outlives its session.
    task: AbortOnDropHandle<Option<TurnResult>>,
    draft: SharedDraft,
    /// Whether its agent continues while this process is down.
    survives: bool,
    /// Whether its agent can resume the turn at a question in another process.
    resumes_questions: bool,
}

struct Worker {
    hub: Weak<Hub>,
    id: SessionId,
    log: Arc<Log>,
    store: Store,
    agents: Agents,
    limits: hub::Limits,
    status: watch::Sender<Status>,
    profile: Profile,
    queue: VecDeque<QueuedMessage>,
    running: Option<Running>,
    /// States of applets that were changed since the session was loaded.
    states: HashMap<Slug, AppletState>,
    /// The last number at which no turn was open.
    settled: u64,
    /// Up to here the store has no deltas.
    compacted: u64,
}

/// Loads a session: its worker reads the log from the store, then processes commands.
pub(crate) fn start(hub: &Arc<Hub>, id: SessionId, workers: &TaskTracker) -> Arc<Session> {
    let (requests, inbox) = mpsc::channel(WAITING_COMMANDS);
    let status = watch::Sender::new(Status::Loading);
    let log = Arc::new(Log::new());
    let session = Arc::new(Session::new(
        id,
        Arc::clone(&log),
        hub.store.clone(),
        requests,
        status.subscribe(),
    ));
    let hub = Arc::downgrade(hub);
    workers.spawn(async move {
        if let Err(error) = live(hub.clone(), id, &log, &status, inbox).await {
            if !matches!(error, Error::SessionNotFound(_)) {
                tracing::error!(session = %id, %error, "the task of a session panicked");
            }
            let why = SubscriptionEnd::from(&error);
            status.send_replace(Status::Gone(error));
            log.end(why);
        }
        if let Some(hub) = hub.upgrade() {
            hub.forget(id, &log);
        }
    });
    session
}

async fn live(
    hub: Weak<Hub>,
    id: SessionId,
    log: &Arc<Log>,
    status: &watch::Sender<Status>,
    inbox: mpsc::Receiver<Request>,
) -> Result<()> {
    let mut worker = {
        let hub = hub.upgrade().ok_or(Error::Stopping)?;
        let profile = hub
            .store
            .get::<Profile>(&hub::profile_key(id))
            .await?
            .ok_or(Error::SessionNotFound(id))?
            .value;
        let last = hub.store.last(id).await?;
        log.begin_after(last);
        Worker {
            hub: Arc::downgrade(&hub),
            id,
            log: Arc::clone(log),
            store: hub.store.clone(),
            agents: hub.agents.clone(),
            limits: hub.limits,
            status: status.clone(),
            profile,
            queue: VecDeque::new(),
            running: None,
            states: HashMap::new(),
            settled: last,
            compacted: last,
        }
    };
    worker.recover().await?;
    if worker.limits.kept_events > 0 && worker.queue.is_empty() && worker.running.is_none() {
        // Before anyone can read, so that no reader finds a gap.
        worker.store.trim(id, worker.limits.kept_events).await?;
    }
    worker.start_next().await?;
    worker.run(inbox).await
}

impl Worker {
    async fn run(&mut self, mut inbox: mpsc::Receiver<Request>) -> Result<()> {
        loop {
            let idle = self.limits.idle.max(SHORTEST_REST);
            let resting = self.running.is_none();
            tokio::select! {
                request = inbox.recv() => match request {
                    Some(Request::Submit { command: Command::Delete, reply, .. }) => {
                        let deleted = self.delete().await;
                        let _ = reply.send(deleted.clone().map(|commit| (Receipt::Done, Some(commit))));
                        // If this failed, the turn has ended anyway: loading the session again marks it.
                        return deleted.map(|_| ());
                    }
                    Some(Request::Submit { command, once, reply }) => {
                        let done = self.execute(command, once).await;
                        let _ = reply.send(done);
                        self.start_next().await?;
                    }
                    Some(Request::Shutdown) => return self.shut_down().await,
                    None => return Ok(()),
                },
                ran = finished(&mut self.running) => {
                    self.end_turn(ran).await?;
                    self.start_next().await?;
                }
                () = tokio::time::sleep(idle), if resting => {
                    if self.fall_asleep().await? {
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn delete(&mut self) -> Result<Commit> {
        self.queue.clear();
        if let Some(running) = self.running.take() {
            halt(running).await;
        }
        let states = state::states_prefix(self.id);
        let mut records = self.store.keys(&states, state::APPLETS).await?;
        let leaves = consent::consents_prefix(self.id);
        records.extend(self.store.keys(&leaves, 10 * state::APPLETS).await?);
        records.extend(self.launch_records().await?);
        records.extend([
            hub::profile_key(self.id),
            hub::busy_key(self.id),
            mark_key(self.id),
        ]);
        let commit = self.store.erase(self.id, records).await?;
        self.status
            .send_replace(Status::Gone(Error::SessionNotFound(self.id)));
        self.log.end(SubscriptionEnd::Deleted);
        if let Some(hub) = self.hub.upgrade() {
            hub.forget(self.id, &self.log);
        }
        Ok(commit)
    }

    async fn shut_down(&mut self) -> Result<()> {
        if !self.leave_running().await {
            self.cancel(Outcome::Interrupted).await?;
        }
        self.status.send_replace(Status::Gone(Error::Stopping));
        self.log.end(SubscriptionEnd::Stopping);
        Ok(())
    }

    async fn fall_asleep(&mut self) -> Result<bool> {
        let Some(hub) = self.hub.upgrade() else {
            return Ok(true);
        };
        self.compact(self.settled).await?;
        Ok(hub.release(self.id))
    }

    /// Drops the deltas up to a number from the store.
    async fn compact(&mut self, up_to: u64) -> Result<()> {
        if up_to > self.compacted {
            self.store.compact(self.id, self.compacted, up_to).await?;
            self.compacted = up_to;
        }
        Ok(())
    }

    async fn append(&self, events: Vec<Event>, records: Vec<Put>) -> Result<Written> {
        self.store
            .append(self.append_of(events, records, None))
            .await
    }

    /// For commands, whose sender waits until they are durable.
    async fn append_once(
        &self,
        events: Vec<Event>,
        records: Vec<Put>,
        once: Option<String>,
    ) -> Result<Written> {
        let append = self.append_of(events, records, once);
        self.store.append_to_keep(append).await
    }

    fn append_of(&self, events: Vec<Event>, records: Vec<Put>, once: Option<String>) -> Append {
        Append {
            session: self.id,
            events,
            records,
            log: Some(Arc::clone(&self.log)),
            once,
        }
    }

    fn publish_status(&self) {
        let profile = Box::new(self.profile.clone());
        self.status.send_replace(Status::Awake {
            profile,
            running: self.running.is_some(),
        });
    }
}
