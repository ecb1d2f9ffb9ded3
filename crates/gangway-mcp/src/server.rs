//! One server, kept running.

use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::{
    ask::Asker,
    connect::{Connection, NoConnection, challenge, told},
    handler::Handler,
    journal::Journal,
    listing::Listing,
    live::Live,
    spec::{ServerSpec, Settings},
    status::{State, Status},
};

#[derive(Clone)]
struct Now {
    state: State,
    since: Timestamp,
    live: Option<Arc<Live>>,
}

/// How one run of a server came to its end.
enum Ended {
    /// It was told to.
    Stopped,
    /// It wants a login.
    Unauthorized,
    /// By itself.
    Failed {
        reason: String,
        /// Whether it had been well for so long that earlier failures no longer count.
        settled: bool,
    },
}

impl Ended {
    fn failed(reason: String) -> Self {
        Self::Failed {
            reason,
            settled: false,
        }
    }
}

/// One server.
pub(crate) struct Server {
    pub(crate) spec: ServerSpec,
    pub(crate) journal: Arc<Journal>,
    settings: Arc<Settings>,
    asker: Option<Arc<dyn Asker>>,
    now: watch::Sender<Now>,
    /// Counts up when anything about any server changed.
    changes: watch::Sender<u64>,
    running: Mutex<Option<(CancellationToken, JoinHandle<()>)>>,
    /// What it said when it wanted a login.
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
        let now = Now {
            state: State::Stopped,
            since: Timestamp::now(),
            live: None,
        };
        Self {
            journal: journal.unwrap_or_else(|| Arc::new(Journal::new(settings.log_lines))),
            spec,
            settings,
            asker,
            now: watch::Sender::new(now),
            changes,
            running: Mutex::new(None),
            challenge: Mutex::new(None),
        }
    }

    pub(crate) fn status(&self) -> Status {
        let now = self.now.borrow();
        let live = now.live.as_ref();
        Status {
            id: self.spec.id.clone(),
            state: now.state.clone(),
            since: now.since,
            protocol: live.and_then(|live| live.protocol.clone()),
            server: live.and_then(|live| live.described.clone()),
            instructions: live.and_then(|live| live.instructions.clone()),
            tools: live.map_or(0, |live| live.listing().tools.len()),
            process: live.and_then(|live| live.process),
            logged_in: live.is_some_and(|live| live.logged_in),
            wants_more: live.is_some_and(|live| live.refused().is_some()),
        }
    }

    pub(crate) fn live(&self) -> Option<Arc<Live>> {
        self.now.borrow().live.clone()
    }

    /// The connection, waited for while it starts; why there is none otherwise.
    pub(crate) async fn ready(&self) -> Result<Arc<Live>, String> {
        if let Some(live) = self.live() {
            return Ok(live);
        }
        let mut changes = self.now.subscribe();
        let settled = changes
            .wait_for(|now| !matches!(now.state, State::Starting { .. }))
            .await
            .map(|now| now.clone())
            .map_err(|_| format!("{} was removed", self.spec.id))?;
        let id = &self.spec.id;
        match (settled.live, settled.state) {
            (Some(live), _) => Ok(live),
            (None, State::Failed { reason, .. }) => Err(format!("{id} does not run: {reason}")),
            (None, State::Unauthorized) => Err(format!("{id} wants a person to log in first")),
            (None, _) => Err(format!("{id} is stopped")),
        }
    }

    /// Starts it unless it runs.
    pub(crate) fn start(self: &Arc<Self>) {
        let mut running = self.running.lock().unwrap_or_else(|e| e.into_inner());
        if running
            .as_ref()
            .is_some_and(|(_, task)| !task.is_finished())
        {
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

    /// Stops it and waits until it, and all it started, are gone.
    pub(crate) async fn stop(&self) {
        let task = {
            let mut running = self.running.lock().unwrap_or_else(|e| e.into_inner());
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

    /// Tells it to stop, from where nothing can be waited for.
    pub(crate) fn abandon(&self) {
        let running = self.running.lock().unwrap_or_else(|e| e.into_inner());
        if let Some((stop, _)) = &*running {
            stop.cancel();
        }
    }

    fn set(&self, state: State, live: Option<Arc<Live>>) {
        self.set_if(|| true, state, live);
    }

    /// Sets it unless this run was told to stop: by then another one may have begun.
    fn set_unless(&self, stop: &CancellationToken, state: State, live: Option<Arc<Live>>) {
        self.set_if(|| !stop.is_cancelled(), state, live);
    }

    fn set_if(&self, may: impl FnOnce() -> bool, state: State, live: Option<Arc<Live>>) {
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
            let (reason, settled) = match self.run_once(&stop, failures).await {
                Ended::Failed { reason, settled } => (reason, settled),
                Ended::Stopped => {
                    self.journal.host("stopped");
                    return;
                }
                Ended::Unauthorized => {
                    self.journal.host("it wants a person to log in");
                    self.set_unless(&stop, State::Unauthorized, None);
                    return;
                }
            };
            failures = if settled { 1 } else { failures + 1 };
            self.journal
                .host(format!("failed ({failures} in a row): {reason}"));
            if failures >= self.settings.tries {
                self.set_unless(
                    &stop,
                    State::Failed {
                        reason,
                        tries: failures,
                    },
                    None,
                );
                return;
            }
            let reason = Some(reason);
            self.set_unless(&stop, State::Starting { failures, reason }, None);
            // Ten doublings are a thousandfold; no number of tries may overflow.
            let wait = self.settings.backoff * (1 << (failures - 1).min(10));
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = stop.cancelled() => return,
            }
        }
    }

    /// Runs it once and says why it ended.
    async fn run_once(&self, stop: &CancellationToken, failures: u32) -> Ended {
        self.journal.host("starting");
        let (changed, mut changes) = mpsc::channel(1);
        // Cancelled however this ends: nobody waits for an answer to what was asked meanwhile.
        let over = CancellationToken::new();
        let _over = over.clone().drop_guard();
        let handler = Arc::new(Handler::new(
            self.spec.id.clone(),
            self.journal.clone(),
            self.asker.clone(),
            self.settings.ask_timeout,
            changed.clone(),
            over,
        ));
        let opening = Connection::open(&self.spec, &self.settings, &self.journal, handler);
        let opened = tokio::select! {
            opened = opening => opened,
            // What was begun is ended by being dropped.
            () = stop.cancelled() => return Ended::Stopped,
        };
        let mut connection = match opened {
            Ok(connection) => connection,
            Err(NoConnection::Failed(reason)) => return Ended::failed(reason),
            Err(NoConnection::Login(challenge)) => return self.unauthorized(challenge),
        };
        let live = Arc::new(Live::new(&connection));
        if let Err(reason) = self.refresh(&live).await {
            connection.close(self.settings.grace).await;
            return match live.refused() {
                Some(refused) => self.unauthorized(Some(refused.text)),
                None => Ended::failed(reason),
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
        // Nobody may find it any more before it goes.
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
            None => Ended::Stopped,
            Some(why) => Ended::Failed {
                reason: how.unwrap_or(why),
                settled: ready.elapsed() >= self.settings.settled_after,
            },
        }
    }

    fn unauthorized(&self, challenge: Option<String>) -> Ended {
        *self.challenge.lock().unwrap_or_else(|e| e.into_inner()) = challenge;
        Ended::Unauthorized
    }

    async fn refresh(&self, live: &Live) -> Result<(), String> {
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
                return Err(format!("its tools could not be listed: {}", told(&error)));
            }
            Err(_) => return Err("it did not list its tools in time".to_owned()),
        };
        let listing = Listing::read(&self.spec.id, tools, most, &live.listing(), &self.journal);
        live.list(listing);
        Ok(())
    }
}
