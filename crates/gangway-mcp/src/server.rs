//! Supervises one server.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::{
    sync::{Notify, mpsc, watch},
    task::JoinHandle,
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::{
    ask::Asker,
    connect::{Connection, NoConnection, challenge, describe_failure},
    handler::Handler,
    journal::Journal,
    listing::Listing,
    live::LiveServer,
    readiness::CurrentStatus,
    spec::{ServerSpec, Settings},
    status::State,
};

/// The longest pause before reconnecting to a remote server; a call does not wait for it.
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// How a run of a server ended.
enum RunEnd {
    Stopped,
    Unauthorized,
    Failed {
        reason: String,
        /// How long it was ready, if it ever was.
        ready_for: Option<Duration>,
    },
}

impl RunEnd {
    fn failed(reason: String) -> Self {
        Self::Failed {
            reason,
            ready_for: None,
        }
    }
}

pub(crate) struct Server {
    pub(crate) spec: ServerSpec,
    pub(crate) journal: Arc<Journal>,
    settings: Arc<Settings>,
    asker: Option<Arc<dyn Asker>>,
    pub(crate) now: watch::Sender<CurrentStatus>,
    /// Incremented when any server changed.
    changes: watch::Sender<u64>,
    running: Mutex<Option<(CancellationToken, JoinHandle<()>)>>,
    /// Ends the pause before the next attempt.
    pub(crate) retry: Notify,
    /// Its challenge, when it needs a login.
    pub(crate) challenge: Mutex<Option<String>>,
}

impl Server {
    pub(crate) fn new(
        spec: ServerSpec,
        settings: Arc<Settings>,
        asker: Option<Arc<dyn Asker>>,
        changes: watch::Sender<u64>,
        journal: Option<Arc<Journal>>,
    ) -> Self {
        let now = CurrentStatus {
            state: State::Stopped,
            since: Timestamp::now(),
            live: None,
            failed_attempts: 0,
            listing: Arc::default(),
        };
        Self {
            journal: journal.unwrap_or_else(|| Arc::new(Journal::new(settings.log_lines))),
            spec,
            settings,
            asker,
            now: watch::Sender::new(now),
            changes,
            running: Mutex::new(None),
            retry: Notify::new(),
            challenge: Mutex::new(None),
        }
    }

    /// Starts it unless it runs.
    pub(crate) fn start(self: &Arc<Self>) {
        let mut running = self.running.lock();
        if running
            .as_ref()
            .is_some_and(|(_, task)| !task.is_finished())
        {
            self.retry.notify_one();
            return;
        }
        let stop = CancellationToken::new();
        let failures = 0;
        self.set(
            State::Starting {
                failures,
                reason: None,
            },
            None,
        );
        let task = tokio::spawn(self.clone().keep_running(stop.clone()));
        *running = Some((stop, task));
    }

    /// Stops it and waits until it and its descendants are gone.
    pub(crate) async fn stop(&self) {
        let task = {
            let mut running = self.running.lock();
            let task = running.take().map(|(stop, task)| {
                stop.cancel();
                task
            });
            self.set(State::Stopped, None);
            task
        };
        if let Some(task) = task {
            let _ = task.await;
        }
    }

    /// Tells it to stop, without waiting.
    pub(crate) fn abandon(&self) {
        let running = self.running.lock();
        if let Some((stop, _)) = &*running {
            stop.cancel();
        }
    }

    fn set(&self, state: State, live: Option<Arc<LiveServer>>) {
        self.set_if(|| true, state, live);
    }

    /// Sets the state unless this run was told to stop: another one may have started.
    fn set_unless(&self, stop: &CancellationToken, state: State, live: Option<Arc<LiveServer>>) {
        self.set_if(|| !stop.is_cancelled(), state, live);
    }

    fn set_if(&self, may: impl FnOnce() -> bool, state: State, live: Option<Arc<LiveServer>>) {
        self.now.send_if_modified(|now| {
            if !may() {
                return false;
            }
            now.live = live;
            if now.state != state {
                now.state = state;
                now.since = Timestamp::now();
            }
            true
        });
        self.changes.send_modify(|count| *count += 1);
    }

    async fn keep_running(self: Arc<Self>, stop: CancellationToken) {
        let mut failures = 0;
        loop {
            let (reason, ready_for) = match self.run_once(&stop, failures).await {
                RunEnd::Failed { reason, ready_for } => (reason, ready_for),
                RunEnd::Stopped => {
                    self.journal.host("stopped");
                    return;
                }
                RunEnd::Unauthorized => {
                    self.journal.host("it needs a login");
                    self.set_unless(&stop, State::Unauthorized, None);
                    return;
                }
            };
            // After it was ready for long enough, the failure count is reset.
            let settled = ready_for.is_some_and(|time| time >= self.settings.settled_after);
            failures = if settled { 1 } else { failures + 1 };
            self.journal
                .host(format!("failed ({failures} in a row): {reason}"));
            let given_up = failures >= self.settings.tries;
            let state = match given_up {
                true => State::Failed {
                    reason,
                    tries: failures,
                },
                false => State::Starting {
                    failures,
                    reason: Some(reason),
                },
            };
            if ready_for.is_none() {
                self.now.send_if_modified(|now| {
                    now.failed_attempts += 1;
                    false
                });
            }
            self.set_unless(&stop, state, None);
            // A program that fails will fail again. A remote server may only be unreachable for a while.
            if given_up && !self.spec.is_remote() {
                return;
            }
            // At most a thousandfold, without overflow.
            let wait = self.settings.backoff * (1 << (failures - 1).min(10));
            tokio::select! {
                () = tokio::time::sleep(wait.min(MAX_BACKOFF)) => {}
                () = self.retry.notified() => {}
                () = stop.cancelled() => return,
            }
        }
    }

    /// Runs it once and returns why it ended.
    async fn run_once(&self, stop: &CancellationToken, failures: u32) -> RunEnd {
        self.journal.host("starting");
        let (changed, mut changes) = mpsc::channel(1);
        // Cancelled however this ends: open questions are withdrawn.
        let over = CancellationToken::new();
        let _over = over.clone().drop_guard();
        let handler = Arc::new(Handler::new(
            self.spec.id.clone(),
            self.journal.clone(),
            self.asker.clone(),
            &self.settings,
            changed.clone(),
            over,
        ));
        let opening = Connection::open(&self.spec, &self.settings, &self.journal, handler);
        let opened = tokio::select! {
            opened = opening => opened,
            // Dropping the future ends a connection in progress.
            () = stop.cancelled() => return RunEnd::Stopped,
        };
        let mut connection = match opened {
            Ok(connection) => connection,
            Err(NoConnection::Failed(reason)) => return RunEnd::failed(reason),
            Err(NoConnection::Login(challenge)) => return self.unauthorized(challenge),
        };
        let live = Arc::new(LiveServer::new(&connection));
        if let Err(reason) = self.refresh(&live).await {
            connection.close(self.settings.grace).await;
            return match live.refused() {
                Some(refused) => self.unauthorized(Some(refused.text)),
                None => RunEnd::failed(reason),
            };
        }
        let ready = Instant::now();
        let _subscription = live.subscribe(changed);
        self.set_unless(stop, State::Ready, Some(live.clone()));
        self.journal.host("ready");
        let why = loop {
            let process = connection.process.as_mut();
            tokio::select! {
                () = stop.cancelled() => break None,
                () = live.gone.cancelled() => break Some("the connection ended".to_owned()),
                how = async { process?.ended().await.into() }, if process.is_some() => break how,
                Some(()) = changes.recv() => {
                    if let Err(reason) = self.refresh(&live).await {
                        self.journal.host(format!("its tools could not be listed again: {reason}"));
                    }
                    self.changes.send_modify(|count| *count += 1);
                }
            }
        };
        // It must not be found before it goes.
        let state = match why {
            Some(_) => State::Starting {
                failures,
                reason: why.clone(),
            },
            None => State::Stopped,
        };
        self.set_unless(stop, state, None);
        let how = connection.close(self.settings.grace).await;
        if let Some(refused) = live.refused().filter(|refused| !refused.more) {
            return self.unauthorized(Some(refused.text));
        }
        match why {
            None => RunEnd::Stopped,
            Some(why) => RunEnd::Failed {
                reason: how.unwrap_or(why),
                ready_for: Some(ready.elapsed()),
            },
        }
    }

    fn unauthorized(&self, challenge: Option<String>) -> RunEnd {
        *self.challenge.lock() = challenge;
        RunEnd::Unauthorized
    }

    async fn refresh(&self, live: &LiveServer) -> Result<(), String> {
        let most = self.settings.max_tools;
        let info = live.peer.peer_info();
        if info.is_some_and(|info| info.capabilities.tools.is_none()) {
            return Ok(());
        }
        let fetched =
            tokio::time::timeout(self.settings.call_timeout, Listing::fetch(&live.peer, most))
                .await;
        let tools = match fetched {
            Ok(Ok(tools)) => tools,
            Ok(Err(error)) => {
                if let Some(challenge) = challenge(&error) {
                    live.refuse(challenge);
                }
                return Err(format!(
                    "its tools could not be listed: {}",
                    describe_failure(&error)
                ));
            }
            Err(_) => return Err("it did not list its tools in time".to_owned()),
        };
        let listing = Listing::read(&self.spec.id, tools, most, &live.listing(), &self.journal);
        live.list(listing);
        self.now.send_if_modified(|now| {
            now.listing = live.listing();
            false
        });
        Ok(())
    }
}
