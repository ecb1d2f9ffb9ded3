//! A live session: the way to ask something of it and to follow what it says.

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

/// What a session is set up with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// What people call it.
    pub title: Option<String>,
    /// The folder it works in.
    pub cwd: String,
    /// The model it was told to use.
    pub model: Option<String>,
    /// The agent that takes its turns.
    pub agent: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed, or a turn of it ended.
    pub updated_at: Timestamp,
    /// Whether it is only for one task, is not listed and goes soon.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ephemeral: bool,
}

/// What a live session is doing.
#[derive(Debug, Clone)]
pub(crate) enum Status {
    /// It is being read from the store.
    Loading,
    /// It is there.
    Awake {
        profile: Box<Profile>,
        running: bool,
    },
    /// It is not, for this reason.
    Gone(Error),
}

/// A command on its way to the session's worker.
pub(crate) enum Request {
    Submit {
        command: Command,
        /// The name of the request, so that it takes effect once however often it comes.
        once: Option<String>,
        reply: oneshot::Sender<Result<(Receipt, Option<Commit>)>>,
    },
    Shutdown,
}

/// A command in the queue of its session.
pub struct Enqueued<'a> {
    session: &'a Session,
    answer: oneshot::Receiver<Result<(Receipt, Option<Commit>)>>,
}

impl Enqueued<'_> {
    /// Waits until the effect is kept.
    pub async fn receipt(self) -> Result<Receipt> {
        let Self { session, answer } = self;
        let (receipt, commit) = answer.await.map_err(|_| session.why_gone())??;
        if let Some(commit) = commit {
            session.store.keep(commit).await?;
        }
        Ok(receipt)
    }
}

/// Why a reader cannot simply go on after the number it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// What comes next was trimmed from the log.
    Trimmed,
    /// The log has not come that far.
    Future,
    /// A power cut took back what came up to there.
    Lost,
}

impl Gap {
    /// A word for it, for readers.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Trimmed => "trimmed",
            Self::Future => "future",
            Self::Lost => "lost",
        }
    }
}

/// A session that is in memory.
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

    /// Its name.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// What it is set up with.
    pub fn profile(&self) -> Result<Profile> {
        match &*self.status.borrow() {
            Status::Awake { profile, .. } => Ok((**profile).clone()),
            Status::Gone(error) => Err(error.clone()),
            Status::Loading => Err(Error::SessionNotFound(self.id)),
        }
    }

    /// Whether a turn runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(&*self.status.borrow(), Status::Awake { running: true, .. })
    }

    /// How far the agent's own count ([`Turn::mark`](crate::Turn::mark)) has come in what is stored.
    pub async fn marked(&self) -> Result<u64> {
        turn::marked(&self.store, self.id).await
    }

    /// Asks something of the session; the answer comes after the effect is kept.
    pub async fn submit(&self, command: Command) -> Result<Receipt> {
        self.enqueue(command).await?.receipt().await
    }

    /// Puts a command into the session's queue. Commands take effect in the order in which this returns.
    pub async fn enqueue(&self, command: Command) -> Result<Enqueued<'_>> {
        self.ask(command, None).await
    }

    /// The same as [`Self::submit`], for a request that may come again because its answer was lost: a prompt or a change of state with a
    /// name that was seen in this session before is not obeyed again, but answered as it was.
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

    /// Follows the log after a number the caller has seen, or tells why that cannot be done without a gap.
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

    /// Follows the log after a number that the caller has from this session itself.
    #[must_use]
    pub fn subscribe(self: &Arc<Self>, after: u64) -> Subscription {
        Subscription::new(Arc::clone(self), after)
    }

    /// The number of the last event.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.log.head()
    }

    /// The newest events at one moment.
    pub async fn tail(&self, limit: usize) -> Result<Tail> {
        self.store.tail(self.id, None, limit).await
    }

    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Waits until it is read from the store.
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
