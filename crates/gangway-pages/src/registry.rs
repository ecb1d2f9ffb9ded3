//! All open pages: which there are, whose they are, and the names of their tool servers.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Weak},
};

use gangway_core::{Notes, PageEntry, PageId, PageKind, SessionId, Source, ToolError, ToolName};
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use tokio::sync::watch;

use crate::{
    notes::{PageNotes, Subject, bounded},
    page::{NewPage, Page, PageChannel},
};

/// Prefix of a page's tool server; the name of the app, applet, site or relay session follows.
pub const PREFIX: &str = "page-";

/// Maximum number of open pages; connections are limited long before.
const PAGES: usize = 10_000;

/// Characters of a name in the name of a tool server.
const NAME: usize = 64;

/// All open pages.
pub struct Pages {
    state: Mutex<State>,
    changes: watch::Sender<u64>,
    notes: PageNotes,
}

#[derive(Default)]
struct State {
    open: BTreeMap<PageId, Arc<Page>>,
    servers: HashMap<String, PageId>,
}

/// Too many pages are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("at most {PAGES} pages can be open; close some")]
pub struct TooManyPages;

/// A page is open until this is dropped.
#[derive(Debug)]
pub struct OpenPage {
    pages: Weak<Pages>,
    pub page: Arc<Page>,
}

impl OpenPage {
    /// Whether what happens with it is logged.
    #[must_use]
    pub fn is_logged(&self) -> bool {
        self.page.logged_in().is_some()
    }

    /// Logs what its protocol carries beside the calls that come through here; values are cut to what a log takes.
    pub fn log(&self, entry: PageEntry) {
        if let Some(pages) = self.pages.upgrade() {
            let session = self.page.logged_in();
            pages.notes.put(&self.page, session, bounded(entry));
        }
    }
}

impl Drop for OpenPage {
    fn drop(&mut self) {
        if let Some(pages) = self.pages.upgrade() {
            pages.leave(&self.page);
        }
    }
}

impl Pages {
    /// What happens with them is noted for the logs of their sessions.
    #[must_use]
    pub fn new(notes: Notes) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            changes: watch::Sender::default(),
            notes: PageNotes::new(notes),
        })
    }

    /// Opens a page.
    pub fn open(
        self: &Arc<Self>,
        new: NewPage,
        channel: Arc<dyn PageChannel>,
    ) -> Result<OpenPage, TooManyPages> {
        self.open_with_log(new, None, channel)
    }

    /// Opens a page that is in the log of this session while it belongs to none.
    pub fn open_with_log(
        self: &Arc<Self>,
        new: NewPage,
        log: Option<SessionId>,
        channel: Arc<dyn PageChannel>,
    ) -> Result<OpenPage, TooManyPages> {
        let page = Arc::new(Page::new(new, log, channel));
        let mut state = self.lock();
        if state.open.len() >= PAGES {
            return Err(TooManyPages);
        }
        state.open.insert(page.id, Arc::clone(&page));
        drop(state);
        self.notes.put(&page, page.logged_in(), opened(&page));
        self.changed();
        Ok(OpenPage {
            pages: Arc::downgrade(self),
            page,
        })
    }

    /// The name of a page's tool server, from when it offers tools: that of the page itself, with a number where
    /// another open page has it.
    pub fn name<'a>(&self, page: &'a Page) -> &'a str {
        page.named(|| {
            let mut state = self.lock();
            let plain = format!("{PREFIX}{}", fitting(page));
            let mut name = plain.clone();
            let mut number = 1;
            while state.servers.contains_key(&name) {
                number += 1;
                name = format!("{plain}-{number}");
            }
            state.servers.insert(name.clone(), page.id);
            name
        })
    }

    fn leave(&self, page: &Page) {
        let mut state = self.lock();
        state.open.remove(&page.id);
        if let Some(server) = page.server() {
            state.servers.remove(server);
        }
        drop(state);
        self.notes.put(page, page.logged_in(), PageEntry::Left);
        self.changed();
    }

    /// Connects a page to a session, whose agents may use its tools from now on, or to none.
    pub fn connect(&self, page: &Page, session: Option<SessionId>) {
        let before = page.set_session(session);
        if before == session {
            return;
        }
        self.notes.put(page, before, PageEntry::Left);
        self.notes.put(page, session, opened(page));
        self.changed();
    }

    /// A page offers other tools, with these names.
    pub fn offered(&self, page: &Page, tools: Vec<String>) {
        self.note_offer(page, tools);
        self.changed();
    }

    /// A page was asked for its tools, and has these.
    pub fn note_offer(&self, page: &Page, tools: Vec<String>) {
        if page.logs_offer() {
            let entry = PageEntry::Offered { tools };
            self.notes.put(page, page.logged_in(), entry);
        }
    }

    /// Logs something about agents on the relay that no page of theirs logs.
    pub fn log(&self, about: Subject, entry: PageEntry) {
        self.notes.put_about(about, bounded(entry));
    }

    /// Calls a tool of a page for a caller outside of the session's turns, which is logged.
    pub async fn call_as(
        &self,
        by: Source,
        page: &Page,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        self.notes.call(page, by, tool, arguments).await
    }

    /// The open page with this id.
    #[must_use]
    pub fn find(&self, id: PageId) -> Option<Arc<Page>> {
        self.lock().open.get(&id).cloned()
    }

    /// The open page with this tool server.
    #[must_use]
    pub fn of_server(&self, server: &str) -> Option<Arc<Page>> {
        let state = self.lock();
        let id = state.servers.get(server)?;
        state.open.get(id).cloned()
    }

    /// All, in the order of opening.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Page>> {
        self.lock().open.values().cloned().collect()
    }

    /// Those that agents of a session may use.
    #[must_use]
    pub fn of_session(&self, session: SessionId) -> Vec<Arc<Page>> {
        let mut pages = self.all();
        pages.retain(|page| page.session() == Some(session));
        pages
    }

    /// Counts up whenever a page opened, left, or offers other tools.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Signals that a page offers other tools.
    pub fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

fn opened(page: &Page) -> PageEntry {
    PageEntry::Opened {
        origin: page.origin.clone(),
        title: page.title.clone(),
    }
}

/// The name of a page as a part of the name of its tool server.
fn fitting(page: &Page) -> String {
    // Dots would make names for models that nobody can read; those of the relay are part of its protocol.
    let dots = page.kind == PageKind::Relay;
    let plain =
        |c: char| match c.is_ascii_alphanumeric() || matches!(c, '_' | '-') || c == '.' && dots {
            true => c,
            false => '-',
        };
    let name: String = page.name.chars().map(plain).take(NAME).collect();
    match name.is_empty() {
        true => "page".to_owned(),
        false => name,
    }
}
