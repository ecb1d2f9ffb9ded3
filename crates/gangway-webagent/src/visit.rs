//! One page that uses Gangway: what it has going on, for as long as it is open.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use gangway_core::Origin;
use parking_lot::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

use crate::{
    chat::Chat,
    error::SiteError,
    frames::Place,
    outbox::Outbox,
    own_tools::OwnTools,
    permissions::{By, Presence, TabId},
    text::Text,
};

/// Calls of one page at the same time.
const CALLS: usize = 256;

/// A page that is open.
pub struct Visit {
    /// Names it, and is known to it alone.
    pub id: String,
    /// Where it is from.
    pub origin: Origin,
    /// The tab it is in.
    pub tab: TabId,
    /// Where in the tab it is.
    pub place: Place,
    /// How it reaches Gangway, as the audit log names it.
    pub by: By,
    /// What is said to it.
    pub outbox: Outbox,
    /// The tools that it implements itself.
    pub own_tools: OwnTools,
    /// Cancelled when the page is gone.
    pub over: CancellationToken,
    locked: AtomicBool,
    delegated_by: OnceLock<Origin>,
    doing: Mutex<Doing>,
    _presence: Presence,
}

#[derive(Default)]
struct Doing {
    /// The highest number of a call: a call that comes again after a lost connection is known by it.
    last_call: u64,
    calls: HashMap<u64, CancellationToken>,
    texts: BTreeMap<String, Arc<Text>>,
    chat: Option<Arc<Chat>>,
    /// Ends the connection that serves it now.
    connection: Option<CancellationToken>,
    /// Cancelled when another page of the same tab took the place of one that is not connected.
    superseded: CancellationToken,
    /// How many connections there were.
    connections: u64,
}

impl Visit {
    pub(crate) fn new(
        id: String,
        (origin, tab, place, by): (Origin, TabId, Place, By),
        locked: bool,
        presence: Presence,
        own_tools: OwnTools,
        stop: &CancellationToken,
    ) -> Self {
        Self {
            id,
            origin,
            tab,
            place,
            by,
            outbox: Outbox::default(),
            own_tools,
            over: stop.child_token(),
            locked: AtomicBool::new(locked),
            delegated_by: OnceLock::new(),
            doing: Mutex::default(),
            _presence: presence,
        }
    }

    /// Whether nobody knows yet that the person of this Gangway sits before it.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.locked.load(Ordering::Acquire)
    }

    /// The person was there.
    pub fn unlock(&self) {
        self.locked.store(false, Ordering::Release);
    }

    /// The page in the tab, where it lets this one in its frame ask.
    pub(crate) fn delegated_by(&self) -> Option<Origin> {
        self.delegated_by.get().cloned()
    }

    /// The page in the tab lets this one ask.
    pub(crate) fn set_delegated_by(&self, top: Origin) {
        // Whoever delegates again is the same page.
        let _ = self.delegated_by.set(top);
    }

    /// Begins a call: what ends it, or nothing when it was begun before.
    pub fn begin(&self, number: u64) -> Result<Option<CancellationToken>, SiteError> {
        let mut doing = self.lock();
        if number <= doing.last_call {
            return Ok(None);
        }
        doing.last_call = number;
        if doing.calls.len() >= CALLS {
            return Err(SiteError::too_many("too many calls at once; wait for some"));
        }
        let stop = self.over.child_token();
        doing.calls.insert(number, stop.clone());
        Ok(Some(stop))
    }

    /// A call is over.
    pub fn finish(&self, number: u64) {
        self.lock().calls.remove(&number);
    }

    /// Whether a call runs.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        !self.lock().calls.is_empty()
    }

    /// Ends a call that runs.
    pub fn abort(&self, number: u64) {
        if let Some(stop) = self.lock().calls.get(&number) {
            stop.cancel();
        }
    }

    /// Makes this the connection that serves the page; one before it ends.
    pub fn connect(&self) -> (CancellationToken, u64) {
        let mine = self.over.child_token();
        let mut doing = self.lock();
        doing.connections += 1;
        if let Some(before) = doing.connection.replace(mine.clone()) {
            before.cancel();
        }
        (mine, doing.connections)
    }

    /// The connection of this number is lost.
    pub fn disconnect(&self, connection: u64) {
        let mut doing = self.lock();
        if doing.connections == connection {
            doing.connection = None;
        }
    }

    /// Cancelled when nobody waits for this page's questions any more, though it may still come back.
    pub(crate) fn superseded(&self) -> CancellationToken {
        self.lock().superseded.clone()
    }

    /// Withdraws the page's questions, unless it is connected.
    pub(crate) fn supersede(&self) {
        let mut doing = self.lock();
        if doing.connection.is_none() {
            std::mem::take(&mut doing.superseded).cancel();
        }
    }

    /// Whether no other connection came after this one.
    #[must_use]
    pub fn is_last(&self, connection: u64) -> bool {
        self.lock().connections == connection
    }

    /// How many conversations are open.
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

    /// Remembers its chat, unless it has one.
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

    fn lock(&self) -> MutexGuard<'_, Doing> {
        self.doing.lock()
    }
}
