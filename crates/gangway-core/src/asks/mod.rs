//! The list of open requests to the user, and how answers return to their askers.

mod body;
mod entry;
mod log;
#[cfg(test)]
mod tests;
mod window;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

pub use body::{
    Actor, Ask, AskBody, AskDecision, AskId, Asker, NoAskId, PermissionRequest, Reply,
    RequestedServer, RequestedTool,
};
pub use entry::{AskEntry, AskOutcome, AskedFor};
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use log::{AskLogs, LogSlot};
use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};
pub use window::AskWindow;
use window::Windows;

use crate::{error::Error, id::SessionId, notes::Notes};

/// Handles an answer; the request stays open if it fails.
pub type Answering =
    Arc<dyn Fn(AskId, Reply) -> BoxFuture<'static, Result<(), AskError>> + Send + Sync>;

/// All open requests to the user.
pub struct Asks {
    state: Mutex<State>,
    logs: AskLogs,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    last: u64,
    /// Oldest first.
    open: BTreeMap<u64, Entry>,
}

struct Entry {
    ask: Arc<Ask>,
    lane: Lane,
    hidden: bool,
    /// An answer is being handled or was accepted; it keeps its place in the lane until dropped.
    answered: bool,
    windows: Windows,
    answering: Answering,
    log: LogSlot,
}

/// A queue of requests that share a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// What the limit applies to.
    pub name: String,
    /// Maximum number of open requests.
    pub limit: usize,
    /// Whether the user sees only the oldest one.
    pub one_at_a_time: bool,
}

/// A request to open.
#[derive(Debug, Clone)]
pub struct NewAsk {
    /// Who asks.
    pub asker: Asker,
    /// What is asked.
    pub body: AskBody,
    /// Its queue.
    pub lane: Lane,
    /// Timeout, if any.
    pub timeout: Option<Duration>,
    /// Whether it is visible only by id.
    pub hidden: bool,
    /// The session in whose log it is; `None` if there is none, or the session has other events about it.
    pub session: Option<SessionId>,
}

/// The limit of its lane is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many requests are waiting for the user")]
pub struct TooManyAsks;

/// Why an answer was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// It was answered, withdrawn or timed out.
    #[error("this request is no longer open: it was answered, withdrawn or timed out")]
    NotFound,
    /// The answer is invalid for this request.
    #[error("{message}")]
    Invalid {
        /// An error code for programs.
        code: &'static str,
        /// What is wrong.
        message: String,
    },
    /// The answer is valid but cannot take effect now.
    #[error("{message}")]
    Conflict {
        /// An error code for programs.
        code: &'static str,
        /// What prevents it.
        message: String,
    },
    /// The answer could not be stored.
    #[error(transparent)]
    Core(#[from] Error),
}

impl AskError {
    /// An invalid answer.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        let message = message.into();
        let code = "invalid_request";
        Self::Invalid { code, message }
    }
}

/// An open request; dropping it withdraws the request.
pub struct OpenAsk {
    asks: Arc<Asks>,
    number: u64,
    id: AskId,
}

/// Without logs.
impl Default for Asks {
    fn default() -> Self {
        Self::new(Notes::default())
    }
}

impl Asks {
    /// No requests yet; those that concern a session are noted for its log.
    #[must_use]
    pub fn new(notes: Notes) -> Self {
        Self {
            state: Mutex::default(),
            logs: AskLogs::new(notes),
            changes: watch::Sender::default(),
        }
    }

    /// Logs what the user decided without being asked.
    pub async fn log_decision(
        &self,
        session: SessionId,
        asker: Asker,
        request: AskedFor,
        outcome: AskOutcome,
    ) {
        let number = {
            let mut state = self.state.lock();
            state.last += 1;
            state.last
        };
        let opening = AskEntry::Opened { asker, request };
        let log = self.logs.open(session, number, opening);
        log.close(outcome, Some(Actor::Person)).await;
    }

    /// Opens a request. `answering` handles the answer.
    pub fn open(
        self: &Arc<Self>,
        new: NewAsk,
        answering: Answering,
    ) -> Result<OpenAsk, TooManyAsks> {
        let mut state = self.state.lock();
        let same_lane = |entry: &&Entry| entry.lane.name == new.lane.name;
        if state.open.values().filter(same_lane).count() >= new.lane.limit {
            return Err(TooManyAsks);
        }
        state.last += 1;
        let number = state.last;
        let (id, asked_at) = (AskId::new(), Timestamp::now());
        let log = new.session.map(|session| {
            let opening = AskEntry::Opened {
                asker: new.asker.clone(),
                request: AskedFor::from(&new.body),
            };
            self.logs.open(session, number, opening)
        });
        let ask = Ask {
            id: id.clone(),
            asker: new.asker,
            body: new.body,
            asked_at,
            expires_at: new.timeout.map(|timeout| asked_at + timeout),
        };
        let entry = Entry {
            ask: Arc::new(ask),
            lane: new.lane,
            hidden: new.hidden,
            answered: false,
            windows: Windows::default(),
            answering,
            log: LogSlot::new(log),
        };
        state.open.insert(number, entry);
        drop(state);
        self.changed();
        let asks = Arc::clone(self);
        Ok(OpenAsk { asks, number, id })
    }

    /// Asks and waits for an answer that `check` accepts. Dropping the future withdraws the request.
    pub async fn ask(
        self: &Arc<Self>,
        new: NewAsk,
        check: impl Fn(&Reply) -> Result<(), AskError> + Send + Sync + 'static,
    ) -> Result<Reply, TooManyAsks> {
        let (sender, answer) = oneshot::channel();
        let sender = Mutex::new(Some(sender));
        // Not a reference that counts: the request is a part of this list.
        let asks = Arc::downgrade(self);
        let answering: Answering = Arc::new(move |id, reply| {
            let taken = check(&reply).and_then(|()| sender.lock().take().ok_or(AskError::NotFound));
            let asks = asks.upgrade();
            Box::pin(async move {
                let sender = taken?;
                // Before the asker goes on, so that what it does then follows in the log.
                if let Some(log) = asks.and_then(|asks| asks.log_of(&id)) {
                    log.close(&reply).await;
                }
                sender.send(reply).map_err(|_| AskError::NotFound)
            })
        });
        let timeout = new.timeout.unwrap_or(Duration::MAX);
        let _open = self.open(new, answering)?;
        let answer = tokio::time::timeout(timeout, answer).await;
        Ok(answer.ok().and_then(Result::ok).unwrap_or_default())
    }

    /// The requests that the user sees, oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<Arc<Ask>> {
        let state = self.state.lock();
        let shown = state.open.iter().filter(|(number, entry)| {
            !entry.hidden && !entry.answered && state.is_first(**number, entry)
        });
        shown.map(|(_, entry)| Arc::clone(&entry.ask)).collect()
    }

    /// A request by its id, including hidden ones.
    #[must_use]
    pub fn get(&self, id: &AskId) -> Option<Arc<Ask>> {
        let state = self.state.lock();
        let (_, entry) = state.find(id)?;
        Some(Arc::clone(&entry.ask))
    }

    /// Handles the user's answer; its effect is stored when this returns.
    pub async fn answer(self: &Arc<Self>, id: &AskId, reply: Reply) -> Result<(), AskError> {
        let (number, answering, log) = {
            let mut state = self.state.lock();
            let (number, _) = state.find(id).ok_or(AskError::NotFound)?;
            let entry = state.open.get_mut(&number).ok_or(AskError::NotFound)?;
            entry.answered = true;
            (number, Arc::clone(&entry.answering), entry.log.clone())
        };
        self.changed();
        let (asks, id) = (Arc::clone(self), id.clone());
        // In a task of its own: the client may disconnect before the answer is stored.
        let task = tokio::spawn(async move {
            let taken = answering(id, reply.clone()).await;
            if taken.is_ok() {
                log.close(&reply).await;
            } else if !asks.reopen(number) {
                log.give_up(None);
            }
            taken
        });
        match task.await {
            Ok(taken) => taken,
            Err(_) => {
                self.reopen(number);
                Err(AskError::NotFound)
            }
        }
    }

    /// Counts up whenever the list changes.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Closes the oldest request of a lane, or all of them, since they were decided elsewhere.
    pub fn settle(&self, lane: &str, all: bool) {
        let mut state = self.state.lock();
        let open = state.open.values_mut();
        let own = open.filter(|entry| entry.lane.name == lane);
        for entry in own.take(if all { usize::MAX } else { 1 }) {
            entry.answered = true;
        }
        drop(state);
        self.changed();
    }

    fn log_of(&self, id: &AskId) -> Option<LogSlot> {
        let state = self.state.lock();
        let entry = state.open.values().find(|entry| entry.ask.id == *id)?;
        Some(entry.log.clone())
    }

    /// Returns whether it is still there.
    fn reopen(&self, number: u64) -> bool {
        let mut state = self.state.lock();
        let entry = state.open.get_mut(&number);
        let is_there = entry.map(|entry| entry.answered = false).is_some();
        drop(state);
        self.changed();
        is_there
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }
}

impl State {
    /// Whether it is first in its lane.
    fn is_first(&self, number: u64, entry: &Entry) -> bool {
        let mut before = self.open.range(..number);
        !entry.lane.one_at_a_time || !before.any(|(_, other)| other.lane.name == entry.lane.name)
    }

    /// An open request that the user can see and answer.
    fn find(&self, id: &AskId) -> Option<(u64, &Entry)> {
        let found = self.open.iter().find(|(_, entry)| entry.ask.id == *id);
        let (number, entry) = found?;
        (!entry.answered && self.is_first(*number, entry)).then_some((*number, entry))
    }
}

impl OpenAsk {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &AskId {
        &self.id
    }

    /// Waits until the user sees it: until it is first in its lane.
    pub async fn shown(&self) {
        let first = |_: &u64| {
            let state = self.asks.state.lock();
            let entry = state.open.get(&self.number);
            entry.is_none_or(|entry| state.is_first(self.number, entry))
        };
        // The sender lives as long as `self.asks`.
        let _ = self.asks.changes().wait_for(first).await;
    }

    /// Changes the displayed request.
    pub fn update(&self, body: AskBody) {
        let mut state = self.asks.state.lock();
        if let Some(entry) = state.open.get_mut(&self.number)
            && entry.ask.body != body
        {
            Arc::make_mut(&mut entry.ask).body = body;
            drop(state);
            self.asks.changed();
        }
    }
}

impl Drop for OpenAsk {
    fn drop(&mut self) {
        let entry = self.asks.state.lock().open.remove(&self.number);
        self.asks.changed();
        // An answer is logged where it is handled.
        if let Some(entry) = entry.filter(|entry| !entry.answered) {
            entry.log.give_up(entry.ask.expires_at);
        }
    }
}
