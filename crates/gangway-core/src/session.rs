//! A live session: submitting commands, and following its log.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    command::{Command, Receipt},
    error::{Error, Result},
    id::SessionId,
    log::{Log, Subscription},
    store::{Commit, Store, Tail},
    turn,
};

/// Settings of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The title.
    pub title: Option<String>,
    /// The working folder.
    pub cwd: String,
    /// The model, if set.
    pub model: Option<String>,
    /// The agent.
    pub agent: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed or a turn ended.
    pub updated_at: Timestamp,
    /// Whether it exists for a single task: it is not listed, and deleted soon.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ephemeral: bool,
}

/// The state of a live session.
#[derive(Debug, Clone)]
pub(crate) enum Status {
    /// It is being loaded from the store.
    Loading,
    /// It is loaded.
    Awake {
        profile: Box<Profile>,
        running: bool,
    },
    /// It failed, for this reason.
    Gone(Error),
}

/// A command for the session's worker.
pub(crate) enum Request {
    Submit {
        command: Command,
        /// The idempotency key of the request.
        once: Option<String>,
        reply: oneshot::Sender<Result<(Receipt, Option<Commit>)>>,
    },
    Shutdown,
}

/// A queued command.
pub struct Enqueued<'a> {
    session: &'a Session,
    answer: oneshot::Receiver<Result<(Receipt, Option<Commit>)>>,
}

impl Enqueued<'_> {
    /// Waits until the effect is durable.
    pub async fn receipt(self) -> Result<Receipt> {
        let Self { session, answer } = self;
        let (receipt, commit) = answer.await.map_err(|_| session.why_gone())??;
        if let Some(commit) = commit {
            session.store.keep(commit).await?;
        }
        Ok(receipt)
    }
}

/// Why a reader cannot resume after its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// The next events were trimmed from the log.
    Trimmed,
    /// The log does not reach that number.
    Future,
    /// A power cut took back the events up to there.
    Lost,
}

impl Gap {
    /// Its name for readers.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Trimmed => "trimmed",
            Self::Future => "future",
            Self::Lost => "lost",
        }
    }
}

/// A session in memory.
#[derive(Debug)]
pub struct Session {
    id: SessionId,
    log: Arc<Log>,
    store: Store,
    requests: mpsc::Sender<Request>,
    status: watch::Receiver<Status>,
}

impl Session {
    pub(crate) fn new(
        id: SessionId,
        log: Arc<Log>,
        store: Store,
        requests: mpsc::Sender<Request>,
        status: watch::Receiver<Status>,
    ) -> Self {
        Self {
            id,
            log,
            store,
            requests,
            status,
        }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// Its settings.
    pub fn profile(&self) -> Result<Profile> {
        match &*self.status.borrow() {
            Status::Awake { profile, .. } => Ok((**profile).clone()),
            Status::Gone(error) => Err(error.clone()),
            Status::Loading => Err(Error::SessionNotFound(self.id)),
        }
    }

    /// Whether a turn is running.
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(&*self.status.borrow(), Status::Awake { running: true, .. })
    }

    /// The stored value of the agent's own counter ([`Turn::mark`](crate::Turn::mark)).
    pub async fn marked(&self) -> Result<u64> {
        turn::marked(&self.store, self.id).await
    }

    /// Submits a command; returns once the effect is durable.
    pub async fn submit(&self, command: Command) -> Result<Receipt> {
        self.enqueue(command).await?.receipt().await
    }

    /// Queues a command. Commands take effect in the order in which this returns.
    pub async fn enqueue(&self, command: Command) -> Result<Enqueued<'_>> {
        self.ask(command, None).await
    }

    /// Like [`Self::submit`], with an idempotency key: a prompt or a change of state whose key was seen in this session
    /// before has no effect, and gets the same receipt.
    pub async fn submit_once(&self, command: Command, name: String) -> Result<Receipt> {
        self.ask(command, Some(name)).await?.receipt().await
    }

    async fn ask(&self, command: Command, once: Option<String>) -> Result<Enqueued<'_>> {
        let (reply, answer) = oneshot::channel();
        let request = Request::Submit {
            command,
            once,
            reply,
        };
        if self.requests.send(request).await.is_err() {
            return Err(self.why_gone());
        }
        Ok(Enqueued {
            session: self,
            answer,
        })
    }

    /// Follows the log after a number, or returns why that would leave a gap.
    pub async fn resume(
        self: &Arc<Self>,
        after: u64,
    ) -> Result<std::result::Result<Subscription, Gap>> {
        if after > self.log.head() {
            return Ok(Err(Gap::Future));
        }
        Ok(match self.store.gap(self.id, after).await? {
            Some(gap) => Err(gap),
            None => Ok(self.subscribe(after)),
        })
    }

    /// Follows the log after a number that the caller got from this session itself.
    #[must_use]
    pub fn subscribe(self: &Arc<Self>, after: u64) -> Subscription {
        Subscription::new(Arc::clone(self), after)
    }

    /// The number of the last event.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.log.head()
    }

    /// A snapshot of the newest events.
    pub async fn tail(&self, limit: usize) -> Result<Tail> {
        self.store.tail(self.id, None, limit).await
    }

    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Waits until it is loaded.
    pub(crate) async fn loaded(&self) -> Result<()> {
        let mut status = self.status.clone();
        let status = status
            .wait_for(|status| !matches!(status, Status::Loading))
            .await;
        match status.as_deref() {
            Ok(Status::Gone(error)) => Err(error.clone()),
            Ok(_) => Ok(()),
            Err(_) => Err(Error::Stopping),
        }
    }

    pub(crate) async fn shut_down(&self) {
        let _ = self.requests.send(Request::Shutdown).await;
    }

    fn why_gone(&self) -> Error {
        match &*self.status.borrow() {
            Status::Gone(error) => error.clone(),
            _ => Error::Stopping,
        }
    }
}
