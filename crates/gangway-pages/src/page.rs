//! An open page, as agents see it.

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::future::BoxFuture;
use gangway_core::{PageId, PageKind, SessionId, Tool, ToolError, ToolName};
use parking_lot::Mutex;
use serde_json::Value;

use crate::notes::Subject;

/// How a page's protocol reads its state and events, and calls its tools.
pub trait PageChannel: Send + Sync {
    /// The tools that the page offers now, under this server name; it may be asked for them.
    fn tools<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Vec<ListedTool>>;

    /// The tools as they were last offered, without asking the page.
    fn last_tools(&self, server: &str) -> Vec<ListedTool>;

    /// A tool as it was last offered, without asking the page.
    fn known(&self, tool: &ToolName) -> Option<ListedTool>;

    /// Calls a tool. The arguments are checked against its schema first; dropping the call cancels it in the page.
    fn call<'a>(
        &'a self,
        tool: &'a ToolName,
        arguments: Value,
    ) -> BoxFuture<'a, Result<Value, ToolError>>;

    /// What the page shows or works on now.
    fn state(&self) -> BoxFuture<'_, Result<Value, ToolError>>;

    /// The events of the page after a number; without one, only later ones. Waits until there are some, for so long.
    fn events(
        &self,
        after: Option<u64>,
        wait: Duration,
    ) -> BoxFuture<'_, Result<PageEvents, ToolError>>;
}

/// Changes of a page's tools that are logged.
const OFFERS: u64 = 200;

/// A tool under the name of its page.
#[derive(Debug, Clone)]
pub struct ListedTool {
    pub tool: Arc<Tool>,
    /// Whether the page says that calls change nothing.
    pub read_only: bool,
}

/// Events of a page.
#[derive(Debug, Default)]
pub struct PageEvents {
    /// Oldest first, each with its number.
    pub events: Vec<(u64, Value)>,
    /// The number to go on after.
    pub last: u64,
    /// Whether events after the given number are no longer available.
    pub gap: bool,
}

/// A page that is about to be opened.
#[derive(Debug, Clone)]
pub struct NewPage {
    pub kind: PageKind,
    /// The app, applet, site or relay session that it is; its tool server is named after it.
    pub name: String,
    pub session: Option<SessionId>,
    pub origin: String,
    pub title: String,
}

/// An open page.
pub struct Page {
    pub id: PageId,
    pub kind: PageKind,
    /// The app, applet, site or relay session that it is.
    pub name: String,
    pub origin: String,
    pub title: String,
    pub channel: Arc<dyn PageChannel>,
    session: Mutex<Option<SessionId>>,
    /// The session in whose log it is while it belongs to none.
    log: Option<SessionId>,
    server: OnceLock<String>,
    present: AtomicBool,
    verified: AtomicBool,
    /// How often its tools changed.
    offers: AtomicU64,
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page")
            .field("id", &self.id)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Page {
    pub(crate) fn new(new: NewPage, log: Option<SessionId>, channel: Arc<dyn PageChannel>) -> Self {
        Self {
            id: PageId::new(),
            kind: new.kind,
            name: new.name,
            origin: new.origin,
            title: new.title,
            channel,
            session: Mutex::new(new.session),
            log,
            server: OnceLock::new(),
            present: AtomicBool::new(true),
            // A client without a login can claim to be any site.
            verified: AtomicBool::new(new.kind != PageKind::Site),
            offers: AtomicU64::new(0),
        }
    }

    /// The session whose agents may use it.
    #[must_use]
    pub fn session(&self) -> Option<SessionId> {
        *self.session.lock()
    }

    /// What entries of a log about it are about.
    #[must_use]
    pub fn subject(&self) -> Option<Subject> {
        Some(Subject {
            session: self.logged_in()?,
            page: self.id,
            kind: self.kind,
            name: self.name.clone(),
        })
    }

    /// The session in whose log it is.
    #[must_use]
    pub fn logged_in(&self) -> Option<SessionId> {
        self.session().or(self.log)
    }

    /// Returns the one before.
    pub(crate) fn set_session(&self, session: Option<SessionId>) -> Option<SessionId> {
        std::mem::replace(&mut *self.session.lock(), session)
    }

    /// Whether a change of its tools is logged; one that changes them all the time must not fill the log.
    pub(crate) fn logs_offer(&self) -> bool {
        self.offers.fetch_add(1, Ordering::Relaxed) < OFFERS
    }

    /// Whether it is connected; otherwise it may be reconnecting.
    #[must_use]
    pub fn is_present(&self) -> bool {
        self.present.load(Ordering::Relaxed)
    }

    /// It connected, or its connection was lost.
    pub fn set_present(&self, present: bool) {
        self.present.store(present, Ordering::Relaxed);
    }

    /// Whether it is known to be open in a browser of the person. The origin of a site that is not may be made up.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        self.verified.load(Ordering::Acquire)
    }

    pub fn set_verified(&self) {
        self.verified.store(true, Ordering::Release);
    }

    /// The name of its tool server, unique among open pages; `None` before it offers tools.
    #[must_use]
    pub fn server(&self) -> Option<&str> {
        self.server.get().map(String::as_str)
    }

    /// Named once, for as long as it is open.
    pub(crate) fn named(&self, make: impl FnOnce() -> String) -> &str {
        self.server.get_or_init(make)
    }

    /// Whether it is offered to agents at all. A site is only offered where the user connected it to a session; a page on
    /// the relay is there for agents.
    #[must_use]
    pub fn is_offered(&self) -> bool {
        self.kind == PageKind::Relay || self.session().is_some()
    }

    /// What the user allows when allowing it: another page may get its server's name later.
    #[must_use]
    pub fn target(&self) -> String {
        format!("{} {} {}", self.kind.name(), self.origin, self.name)
    }

    /// The tools as they were last offered, without asking the page.
    #[must_use]
    pub fn last_tools(&self) -> Vec<ListedTool> {
        self.server()
            .map_or_else(Vec::new, |server| self.channel.last_tools(server))
    }

    /// The tools that it offers now; it may be asked for them.
    pub async fn tools(&self) -> Vec<ListedTool> {
        match self.server() {
            Some(server) => self.channel.tools(server).await,
            None => Vec::new(),
        }
    }
}
