//! Web pages that use the person's models and tools, by the person's permission: who is there, and what each has going on.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use gangway_core::{Origin, SessionId, Store, secret::new_secret};
use gangway_mcp::Host;
use governor::DefaultKeyedRateLimiter;
use parking_lot::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

use crate::{
    Place, SiteError, Visit, chat, frames,
    lanes::Lanes,
    limits,
    own_tools::OwnTools,
    permissions::{By, Permissions, TabId},
    servers::Servers,
    work::Work,
};

/// Where the broker connects. It is open to whoever has a page of ours, and lets strangers do nothing but ask.
pub const SOCKET: &str = "/ws/web-agent";

/// The agent that takes the turns of pages' sessions.
pub const AGENT: &str = "page";

/// Pages of one origin, and of all, that may be open.
const PER_ORIGIN: usize = 32;
const VISITS: usize = 1000;

/// Pages of which nobody knows yet whether the person is there.
const STRANGERS: usize = 100;

/// How long a page whose connection is lost may take to come back.
pub const GRACE: Duration = Duration::from_secs(30);

/// All pages that are here.
pub struct Sites {
    pub(crate) permissions: Arc<Permissions>,
    pub(crate) host: Arc<Host>,
    pub(crate) servers: Servers,
    pub(crate) store: Store,
    /// How long a page's own tool may take.
    pub(crate) call_timeout: Duration,
    pub(crate) visits: Mutex<BTreeMap<String, Arc<Visit>>>,
    pub(crate) works: Mutex<HashMap<SessionId, Arc<Work>>>,
    pub(crate) tickets: Mutex<HashMap<String, chat::Ticket>>,
    pub(crate) lanes: Lanes,
    pub(crate) delegations: frames::Delegations,
    /// Sessions that are made for each origin.
    pub(crate) made: DefaultKeyedRateLimiter<Origin>,
}

impl Sites {
    /// Nobody is here yet. `host` runs the person's MCP servers.
    #[must_use]
    pub fn new(
        permissions: Arc<Permissions>,
        host: Arc<Host>,
        store: Store,
        call_timeout: Duration,
    ) -> Arc<Self> {
        Arc::new(Self {
            permissions,
            host,
            servers: Servers::new(),
            store,
            call_timeout,
            visits: Mutex::default(),
            works: Mutex::default(),
            tickets: Mutex::default(),
            lanes: Lanes::default(),
            delegations: frames::Delegations::default(),
            made: limits::sessions(),
        })
    }

    /// A page comes.
    pub fn enter(
        &self,
        origin: Origin,
        tab: TabId,
        (place, by): (Place, By),
        locked: bool,
        stop: &CancellationToken,
    ) -> Result<Arc<Visit>, SiteError> {
        let presence = self.permissions.visit(&origin, &tab);
        let mut visits = self.lock_visits();
        // Anyone may claim any origin where nobody is known, and must not shut out those who are.
        let (strangers, known): (Vec<_>, Vec<_>) =
            visits.values().partition(|visit| visit.is_locked());
        let alike = if locked { &strangers } else { &known };
        let same = alike.iter().filter(|visit| visit.origin == origin).count();
        let most = if locked { STRANGERS } else { VISITS };
        if same >= PER_ORIGIN || alike.len() >= most {
            return Err(SiteError::too_many(
                "too many pages of this site are open; close some",
            ));
        }
        // A page that was reloaded has no use for the questions of the one before, whose end may be noticed late.
        for before in visits.values() {
            if (&before.origin, &before.tab, &before.place) == (&origin, &tab, &place) {
                before.supersede();
            }
        }
        let id = new_secret();
        let own_tools = OwnTools::new(self.call_timeout);
        let visit = Visit::new(
            id.clone(),
            (origin, tab, place, by),
            locked,
            presence,
            own_tools,
            stop,
        );
        let visit = Arc::new(visit);
        visits.insert(id, Arc::clone(&visit));
        Ok(visit)
    }

    /// A page that is still here, by the name that only it knows.
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
