//! Requests to the person, from anyone who may ask: the one list of what is open, and the way answers come back.

mod body;
#[cfg(test)]
mod tests;
mod window;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

pub use body::{
    Ask, AskBody, AskDecision, AskId, Asker, By, NoAskId, PermissionRequest, Reply,
    RequestedServer, RequestedTool,
};
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};
pub use window::AskWindow;
use window::Windows;

use crate::error::Error;

/// Takes an answer; the request stays open when it fails.
pub type Answering =
    Arc<dyn Fn(AskId, Reply) -> BoxFuture<'static, Result<(), AskError>> + Send + Sync>;

/// Everything that waits for the person.
#[derive(Default)]
pub struct Asks {
    state: Mutex<State>,
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
    /// An answer is being taken, or was; it keeps its place in the lane until it is dropped.
    answered: bool,
    windows: Windows,
    answering: Answering,
}

/// Requests that count against one limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// Who or what the limit is for.
    pub name: String,
    /// How many may be open.
    pub limit: usize,
    /// Whether the person sees only the oldest.
    pub one_at_a_time: bool,
}

/// A request to be opened.
#[derive(Debug, Clone)]
pub struct NewAsk {
    /// Who asks.
    pub asker: Asker,
    /// What is asked.
    pub body: AskBody,
    /// The limit that it counts against.
    pub lane: Lane,
    /// How long the asker waits, if not for ever.
    pub timeout: Option<Duration>,
    /// Whether only those see it who know its id.
    pub hidden: bool,
}

/// The limit of its lane is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many requests wait for the person")]
pub struct TooManyAsks;

/// Why an answer was not taken.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// It was answered, withdrawn or timed out.
    #[error("this request is no longer open: it was answered, withdrawn or timed out")]
    NotFound,
    /// The answer does not fit the request.
    #[error("{message}")]
    Invalid {
        /// A code for programs.
        code: &'static str,
        /// What is wrong.
        message: String,
    },
    /// The answer fits, and cannot be kept as things are.
    #[error("{message}")]
    Conflict {
        /// A code for programs.
        code: &'static str,
        /// What is in the way.
        message: String,
    },
    /// It could not be stored.
    #[error(transparent)]
    Core(#[from] Error),
}

impl AskError {
    /// An answer that does not fit the request.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        let message = message.into();
        let code = "invalid_request";
        Self::Invalid { code, message }
    }
}

/// A request that is open until this is dropped.
pub struct OpenAsk {
    asks: Arc<Asks>,
    number: u64,
    id: AskId,
}

impl Asks {
    /// Opens a request. `answering` takes the answer.
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
        };
        state.open.insert(number, entry);
        drop(state);
        self.changed();
        let asks = Arc::clone(self);
        Ok(OpenAsk { asks, number, id })
    }

    /// Asks and waits for the answer, which `check` may reject. Dropping the future withdraws the request.
    pub async fn ask(
        self: &Arc<Self>,
        new: NewAsk,
        check: impl Fn(&Reply) -> Result<(), AskError> + Send + Sync + 'static,
    ) -> Result<Reply, TooManyAsks> {
        let (sender, answer) = oneshot::channel();
        let sender = Mutex::new(Some(sender));
        let answering: Answering = Arc::new(move |_, reply| {
            let taken = check(&reply).and_then(|()| {
                let sender = sender.lock().take().ok_or(AskError::NotFound)?;
                sender.send(reply).map_err(|_| AskError::NotFound)
            });
            Box::pin(std::future::ready(taken))
        });
        let timeout = new.timeout.unwrap_or(Duration::MAX);
        let _open = self.open(new, answering)?;
        let answer = tokio::time::timeout(timeout, answer).await;
        Ok(answer.ok().and_then(Result::ok).unwrap_or_default())
    }

    /// What the person is shown, oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<Arc<Ask>> {
        let state = self.state.lock();
        let shown = state.open.iter().filter(|(number, entry)| {
            !entry.hidden && !entry.answered && state.is_first(**number, entry)
        });
        shown.map(|(_, entry)| Arc::clone(&entry.ask)).collect()
    }

    /// One request by its id, also a hidden one.
    #[must_use]
    pub fn get(&self, id: &AskId) -> Option<Arc<Ask>> {
        let state = self.state.lock();
        let (_, entry) = state.find(id)?;
        Some(Arc::clone(&entry.ask))
    }

    /// Takes the person's answer; what it decides is stored when this returns.
    pub async fn answer(self: &Arc<Self>, id: &AskId, reply: Reply) -> Result<(), AskError> {
        let (number, answering) = {
            let mut state = self.state.lock();
            let (number, _) = state.find(id).ok_or(AskError::NotFound)?;
            let entry = state.open.get_mut(&number).ok_or(AskError::NotFound)?;
            entry.answered = true;
            (number, Arc::clone(&entry.answering))
        };
        self.changed();
        let (asks, id) = (Arc::clone(self), id.clone());
        // In a task of its own: the client may disconnect before the answer is stored.
        let task = tokio::spawn(async move {
            let taken = answering(id, reply).await;
            if taken.is_err() {
                asks.reopen(number);
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

    /// Takes the oldest of a lane off the list, or all of them: that was decided otherwise.
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

    fn reopen(&self, number: u64) {
        if let Some(entry) = self.state.lock().open.get_mut(&number) {
            entry.answered = false;
        }
        self.changed();
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }
}

impl State {
    /// Whether it is not behind another one of its lane.
    fn is_first(&self, number: u64, entry: &Entry) -> bool {
        let mut before = self.open.range(..number);
        !entry.lane.one_at_a_time || !before.any(|(_, other)| other.lane.name == entry.lane.name)
    }

    /// An open request that the person can see and answer.
    fn find(&self, id: &AskId) -> Option<(u64, &Entry)> {
        let found = self.open.iter().find(|(_, entry)| entry.ask.id == *id);
        let (number, entry) = found?;
        (!entry.answered && self.is_first(*number, entry)).then_some((*number, entry))
    }
}

impl OpenAsk {
    /// Names it in the answer.
    #[must_use]
    pub fn id(&self) -> &AskId {
        &self.id
    }

    /// Waits until the person sees it: until those before it in its lane are done.
    pub async fn shown(&self) {
        let first = |_: &u64| {
            let state = self.asks.state.lock();
            let entry = state.open.get(&self.number);
            entry.is_none_or(|entry| state.is_first(self.number, entry))
        };
        // The sender lives as long as `self.asks`.
        let _ = self.asks.changes().wait_for(first).await;
    }

    /// Changes what the person sees.
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
        self.asks.state.lock().open.remove(&self.number);
        self.asks.changed();
    }
}
