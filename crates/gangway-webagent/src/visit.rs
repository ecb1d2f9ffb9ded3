//! An open page that uses Gangway, with its activities.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use gangway_core::Origin;
use gangway_pages::{OpenPage, Page, Registered};
use parking_lot::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

use crate::{
    chat::Chat,
    error::SiteError,
    frames::Embedding,
    outbox::Outbox,
    permissions::{Actor, Presence, TabId},
    text::Text,
};

/// Maximum number of concurrent calls of one page.
const CALLS: usize = 256;

/// A page that is open.
pub struct Visit {
    /// Its id, known only to the page.
    pub id: String,
    /// Its origin.
    pub origin: Origin,
    /// Its tab.
    pub tab: TabId,
    /// Its position in the tab.
    pub place: Embedding,
    /// How it reaches Gangway, as the audit log names it.
    pub by: Actor,
    /// Messages to it.
    pub outbox: Arc<Outbox>,
    /// The tools that it implements.
    pub own_tools: Arc<Registered>,
    /// Cancelled when the page is closed.
    pub over: CancellationToken,
    locked: AtomicBool,
    delegated_by: OnceLock<Origin>,
    doing: Mutex<VisitState>,
    /// It as a page of a session.
    pub session_page: Arc<Page>,
    /// Until the page is closed.
    page: Mutex<Option<OpenPage>>,
    _presence: Presence,
}

#[derive(Default)]
struct VisitState {
    /// The highest number of a call, which reveals a call that is repeated after a lost connection.
    last_call: u64,
    calls: HashMap<u64, CancellationToken>,
    texts: BTreeMap<String, Arc<Text>>,
    chat: Option<Arc<Chat>>,
    /// Ends its current connection.
    connection: Option<CancellationToken>,
    /// Cancelled when another page of the same tab replaced a disconnected one.
    superseded: CancellationToken,
    /// The number of connections so far.
    connections: u64,
}

impl Visit {
    pub(crate) fn new(
        id: String,
        (origin, tab, place, by): (Origin, TabId, Embedding, Actor),
        locked: bool,
        presence: Presence,
        outbox: Arc<Outbox>,
        (own_tools, page): (Arc<Registered>, OpenPage),
        over: CancellationToken,
    ) -> Self {
        if !locked {
            page.page.set_verified();
        }
        Self {
            id,
            origin,
            tab,
            place,
            by,
            outbox,
            own_tools,
            over,
            locked: AtomicBool::new(locked),
            delegated_by: OnceLock::new(),
            doing: Mutex::default(),
            session_page: Arc::clone(&page.page),
            page: Mutex::new(Some(page)),
            _presence: presence,
        }
    }

    /// The page is closed: it offers no tools any more, and open calls of them fail.
    pub(crate) fn leave(&self) {
        self.own_tools.leave();
        self.page.lock().take();
    }

    /// Whether the visitor is unknown: it may not be the user of this Gangway.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.locked.load(Ordering::Acquire)
    }

    /// The user has identified themselves.
    pub fn unlock(&self) {
        self.locked.store(false, Ordering::Release);
        self.session_page.set_verified();
    }

    /// The top page, if it lets this one in its frame ask.
    pub(crate) fn delegated_by(&self) -> Option<Origin> {
        self.delegated_by.get().cloned()
    }

    /// The top page lets this one ask.
    pub(crate) fn set_delegated_by(&self, top: Origin) {
        // A repeated delegation comes from the same page.
        let _ = self.delegated_by.set(top);
    }

    /// Starts a call: returns what cancels it, or `None` if it was started before.
    pub fn begin(&self, number: u64) -> Result<Option<CancellationToken>, SiteError> {
        let mut doing = self.lock();
        if number <= doing.last_call {
            return Ok(None);
        }
        doing.last_call = number;
        if doing.calls.len() >= CALLS {
            return Err(SiteError::too_many(
                "too many calls at once; wait for some to finish",
            ));
        }
        let stop = self.over.child_token();
        doing.calls.insert(number, stop.clone());
        Ok(Some(stop))
    }

    /// A call has ended.
    pub fn finish(&self, number: u64) {
        self.lock().calls.remove(&number);
    }

    /// Whether a call is running.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        !self.lock().calls.is_empty()
    }

    /// Aborts a running call.
    pub fn abort(&self, number: u64) {
        if let Some(stop) = self.lock().calls.get(&number) {
            stop.cancel();
        }
    }

    /// Makes this the page's connection; the previous one ends.
    pub fn connect(&self) -> (CancellationToken, u64) {
        let mine = self.over.child_token();
        let mut doing = self.lock();
        doing.connections += 1;
        self.session_page.set_present(true);
        if let Some(before) = doing.connection.replace(mine.clone()) {
            before.cancel();
        }
        (mine, doing.connections)
    }

    /// This connection is lost.
    pub fn disconnect(&self, connection: u64) {
        let mut doing = self.lock();
        if doing.connections == connection {
            self.session_page.set_present(false);
            doing.connection = None;
        }
    }

    /// Cancelled when the page's requests are withdrawn, although it may still reconnect.
    pub(crate) fn superseded(&self) -> CancellationToken {
        self.lock().superseded.clone()
    }

    /// Withdraws the page's requests, unless it is connected.
    pub(crate) fn supersede(&self) {
        let mut doing = self.lock();
        if doing.connection.is_none() {
            std::mem::take(&mut doing.superseded).cancel();
        }
    }

    /// Whether it is the newest connection.
    #[must_use]
    pub fn is_last(&self, connection: u64) -> bool {
        self.lock().connections == connection
    }

    /// The number of open text sessions.
    #[must_use]
    pub fn texts(&self) -> usize {
        self.lock().texts.len()
    }

    pub(crate) fn add_text(&self, id: String, text: Arc<Text>) {
        self.lock().texts.insert(id, text);
    }

    pub(crate) fn text(&self, id: &str) -> Option<Arc<Text>> {
        self.lock().texts.get(id).cloned()
    }

    pub(crate) fn remove_text(&self, id: &str) -> Option<Arc<Text>> {
        self.lock().texts.remove(id)
    }

    pub(crate) fn take_texts(&self) -> Vec<Arc<Text>> {
        let texts = std::mem::take(&mut self.lock().texts);
        texts.into_values().collect()
    }

    pub(crate) fn chat(&self) -> Option<Arc<Chat>> {
        self.lock().chat.clone()
    }

    /// Sets its chat, unless it has one.
    pub(crate) fn open_chat(&self, chat: &Arc<Chat>) -> bool {
        let mut doing = self.lock();
        let free = doing.chat.is_none();
        if free {
            doing.chat = Some(Arc::clone(chat));
        }
        free
    }

    pub(crate) fn close_chat(&self, id: &str) -> Option<Arc<Chat>> {
        let mut doing = self.lock();
        match &doing.chat {
            Some(chat) if chat.id == id => doing.chat.take(),
            _ => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, VisitState> {
        self.doing.lock()
    }
}
