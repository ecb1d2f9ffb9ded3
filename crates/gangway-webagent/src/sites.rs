//! Web pages that use the user's models and tools with the user's permission, and their activities.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use gangway_core::{Origin, SessionId, Store, secret::new_secret};
use gangway_mcp::Host;
use gangway_pages::Pages;
use governor::DefaultKeyedRateLimiter;
use parking_lot::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

use crate::{
    Embedding, SiteError, Visit, chat, frames,
    lanes::Lanes,
    limits,
    outbox::Outbox,
    own_tools,
    permissions::{Actor, Permissions, TabId},
    servers::Servers,
    work::Work,
};

/// The broker's endpoint. It is open to all pages that embed our frame, and unknown visitors can only ask for
/// permissions.
pub const SOCKET: &str = "/ws/web-agent";

/// The agent of pages' sessions.
pub const AGENT: &str = "page";

/// Maximum number of open pages per origin, and in total.
const PER_ORIGIN: usize = 32;
const VISITS: usize = 1000;

/// Maximum number of pages of unknown visitors.
const MAX_UNKNOWN: usize = 100;

/// How long a page may take to reconnect.
pub const GRACE: Duration = Duration::from_secs(30);

/// All open pages.
pub struct Sites {
    pub(crate) permissions: Arc<Permissions>,
    pub(crate) host: Arc<Host>,
    pub(crate) servers: Servers,
    pub(crate) store: Store,
    pub(crate) pages: Arc<Pages>,
    /// Timeout of a page's own tool.
    pub(crate) call_timeout: Duration,
    pub(crate) visits: Mutex<BTreeMap<String, Arc<Visit>>>,
    pub(crate) works: Mutex<HashMap<SessionId, Arc<Work>>>,
    pub(crate) tickets: Mutex<HashMap<String, chat::Ticket>>,
    pub(crate) lanes: Lanes,
    pub(crate) delegations: frames::Delegations,
    /// New sessions per origin.
    pub(crate) made: DefaultKeyedRateLimiter<Origin>,
}

impl Sites {
    /// `host` runs the user's MCP servers.
    #[must_use]
    pub fn new(
        permissions: Arc<Permissions>,
        host: Arc<Host>,
        store: Store,
        pages: Arc<Pages>,
        call_timeout: Duration,
    ) -> Arc<Self> {
        Arc::new(Self {
            permissions,
            host,
            servers: Servers::new(),
            store,
            pages,
            call_timeout,
            visits: Mutex::default(),
            works: Mutex::default(),
            tickets: Mutex::default(),
            lanes: Lanes::default(),
            delegations: frames::Delegations::default(),
            made: limits::sessions(),
        })
    }

    /// Registers a page.
    pub fn enter(
        &self,
        origin: Origin,
        tab: TabId,
        (place, by): (Embedding, Actor),
        locked: bool,
        stop: &CancellationToken,
    ) -> Result<Arc<Visit>, SiteError> {
        let presence = self.permissions.visit(&origin, &tab);
        let mut visits = self.lock_visits();
        // Unknown visitors can claim any origin, and must not shut out known ones.
        let (unknown, known): (Vec<_>, Vec<_>) =
            visits.values().partition(|visit| visit.is_locked());
        let alike = if locked { &unknown } else { &known };
        let same = alike.iter().filter(|visit| visit.origin == origin).count();
        let most = if locked { MAX_UNKNOWN } else { VISITS };
        if same >= PER_ORIGIN || alike.len() >= most {
            return Err(SiteError::too_many(
                "too many pages of this site are open; close some",
            ));
        }
        // A reloaded page does not need the requests of its predecessor, whose end may be noticed late.
        for before in visits.values() {
            if (&before.origin, &before.tab, &before.place) == (&origin, &tab, &place) {
                before.supersede();
            }
        }
        let id = new_secret();
        let (outbox, over) = (Arc::<Outbox>::default(), stop.child_token());
        let page = own_tools::open(&self.pages, &origin, &outbox, &over, self.call_timeout)?;
        let visit = Visit::new(
            id.clone(),
            (origin, tab, place, by),
            locked,
            presence,
            outbox,
            page,
            over,
        );
        let visit = Arc::new(visit);
        visits.insert(id, Arc::clone(&visit));
        Ok(visit)
    }

    /// An open page by its secret id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<Arc<Visit>> {
        self.lock_visits().get(id).cloned()
    }

    pub(crate) fn lock_visits(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Visit>>> {
        self.visits.lock()
    }

    pub(crate) fn lock_works(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Work>>> {
        self.works.lock()
    }
}
