//! Permissions of pages of other origins: requested, stored, revoked, and logged with every use.

mod allow_once;
mod ask;
mod audit;
mod budget;
mod current;
mod decide;
mod expiry;
mod grants;
mod lease;
mod query;
mod queue;
mod show;
mod site;
pub mod wire;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Weak},
    time::Duration,
};

use gangway_core::{Asks, Error, Grant, Origin, Scope, Store, ToolName};
use jiff::Timestamp;
use parking_lot::{Mutex, MutexGuard};
use tokio::{
    sync::{Notify, watch as channel},
    time::Instant,
};

pub use allow_once::Presence;
pub use ask::{AnswerError, PermissionAnswer};
use audit::Audit;
pub use audit::PermissionUse;
pub use budget::Budgets;
pub use current::{CurrentPermissions, PermissionDenied};
pub use gangway_core::{Actor, AskId, TabId};
use grants::StoredGrants;
pub use grants::{GrantChangeError, Settings};
pub use lease::OverBudget;
pub use query::{Decision, Outcome, PermissionQuery, ProvidedServer, TooMany};
use queue::Queue;

/// Maximum number of origins whose last use is known; stored ones always are.
const USED: usize = 2 * grants::MOST;

/// Longer than any grant lasts.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

/// The permissions of pages, and their requests.
pub struct Permissions {
    store: Store,
    state: Mutex<State>,
    /// Serializes changes of stored grants.
    writer_lock: tokio::sync::Mutex<()>,
    changes: channel::Sender<u64>,
    asks: Arc<Asks>,
    audit: Audit,
    /// The model budgets of origins.
    pub budgets: Arc<Budgets>,
    /// Wakes the sweeper when something expires earlier than it expects.
    wake: Arc<Notify>,
}

struct State {
    stored: BTreeMap<Origin, StoredGrants>,
    once: allow_once::OnceGrants,
    queue: Queue,
    /// When origins last used a permission.
    used: HashMap<Origin, Timestamp>,
    clock: expiry::Clock,
    /// The earliest expiry of stored grants.
    first_end: Option<Timestamp>,
    /// Expired grants that are still stored.
    expired: BTreeMap<Origin, BTreeSet<Scope>>,
}

impl State {
    fn new(
        stored: BTreeMap<Origin, StoredGrants>,
        used: HashMap<Origin, Timestamp>,
        queue: Queue,
    ) -> Self {
        let mut state = Self {
            stored,
            once: allow_once::OnceGrants::default(),
            queue,
            used,
            clock: expiry::Clock::default(),
            first_end: None,
            expired: BTreeMap::new(),
        };
        state.find_first_end();
        state
    }

    fn grant(&self, origin: &Origin, scope: Scope) -> Grant {
        let stored = self
            .stored
            .get(origin)
            .and_then(|stored| stored.scopes.get(&scope));
        let mut once = self.once.living(origin, Instant::now());
        match stored {
            Some(grant) => *grant,
            None if once.any(|given| given.scopes.contains(&scope)) => Grant::Once,
            None => Grant::NotGranted,
        }
    }

    /// The lists of tools that apply to an origin.
    fn lists<'a>(&'a self, origin: &'a Origin) -> impl Iterator<Item = &'a BTreeSet<ToolName>> {
        let stored = self
            .stored
            .get(origin)
            .and_then(|stored| stored.tools.as_ref());
        let once = self.once.living(origin, Instant::now());
        once.filter_map(|given| given.tools.as_ref()).chain(stored)
    }

    fn standing(&self, origin: &Origin) -> CurrentPermissions {
        let tools: BTreeSet<_> = self.lists(origin).flatten().collect();
        let any = self.lists(origin).next().is_some();
        CurrentPermissions {
            scopes: Scope::ALL
                .map(|scope| (scope, self.grant(origin, scope)))
                .into(),
            tools: any.then(|| tools.into_iter().cloned().collect()),
        }
    }
}

impl Permissions {
    /// Loads the stored grants.
    pub async fn load(store: Store, asks: Arc<Asks>) -> Result<Arc<Self>, Error> {
        let rows = store
            .list::<StoredGrants>(grants::PREFIX, None, grants::MOST)
            .await?;
        let (audit, used) = Audit::open(store.clone()).await?;
        let stored = rows.into_iter().filter_map(|(key, record)| {
            let origin = key.strip_prefix(grants::PREFIX)?.parse().ok()?;
            Some((origin, record.value))
        });
        // An older version stored grants of origins that anyone on the network can impersonate.
        let stored = stored.filter(|(origin, stored): &(Origin, StoredGrants)| {
            origin.is_authenticated() || !stored.allows()
        });
        let stored = stored.collect();
        let budgets = Budgets::load(store.clone()).await?;
        let permissions = Arc::new_cyclic(|permissions| {
            let queue = Queue::new(Arc::clone(&asks), permissions);
            Self {
                budgets,
                store,
                state: Mutex::new(State::new(stored, used, queue)),
                writer_lock: tokio::sync::Mutex::default(),
                changes: channel::Sender::new(0),
                asks,
                audit,
                wake: Arc::default(),
            }
        });
        let wake = Arc::clone(&permissions.wake);
        tokio::spawn(sweep(Arc::downgrade(&permissions), wake));
        Ok(permissions)
    }

    /// The current state, without expired grants.
    fn lock(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock();
        if state.expire() {
            self.wake.notify_one();
        }
        state
    }

    /// The current permissions of an origin.
    #[must_use]
    pub fn standing(&self, origin: &Origin) -> CurrentPermissions {
        self.lock().standing(origin)
    }

    /// Whether an origin may do this now.
    pub fn check(&self, origin: &Origin, scope: Scope) -> Result<(), PermissionDenied> {
        match self.lock().grant(origin, scope) {
            Grant::Always | Grant::Once => Ok(()),
            Grant::Denied => Err(PermissionDenied::Denied(scope)),
            Grant::NotGranted => Err(PermissionDenied::ScopeRequired(scope)),
        }
    }

    /// Whether a tool is on the list of an origin; whether its scope allows calls is checked separately.
    pub fn check_tool(&self, origin: &Origin, tool: &ToolName) -> Result<(), PermissionDenied> {
        if self.lock().lists(origin).any(|list| list.contains(tool)) {
            return Ok(());
        }
        Err(PermissionDenied::ToolNotAllowed(tool.clone()))
    }

    /// Whether the user always allows this server of an origin.
    #[must_use]
    pub fn keeps_server(&self, origin: &Origin, url: &str) -> bool {
        let state = self.lock();
        let stored = state.stored.get(origin);
        stored.is_some_and(|stored| stored.servers.contains(url))
    }

    /// Must be held while a page of this tab is connected. The tab counts as closed half a minute after the last one is
    /// dropped.
    pub fn visit(self: &Arc<Self>, origin: &Origin, tab: &TabId) -> Presence {
        Presence::new(self, origin, tab)
    }

    /// Counts up with every change of any origin's permissions.
    #[must_use]
    pub fn changes(&self) -> channel::Receiver<u64> {
        self.changes.subscribe()
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Logs a use without waiting; what exceeds the queue is only counted.
    pub fn note(&self, origin: &Origin, used: PermissionUse) {
        let now = Timestamp::now();
        let mut state = self.lock();
        if state.used.len() >= USED {
            let State { used, stored, .. } = &mut *state;
            used.retain(|origin, _| stored.contains_key(origin));
        }
        // Not displayed for an origin without permissions.
        if state.stored.contains_key(origin) || state.once.has(origin) {
            state.used.insert(origin.clone(), now);
        }
        drop(state);
        self.audit.used(origin, used, now);
    }

    /// Waits until all earlier entries are written.
    pub async fn flush(&self) {
        self.audit.flush().await;
    }
}

impl Drop for Permissions {
    fn drop(&mut self) {
        self.wake.notify_one();
    }
}

/// The sweeper: ends and logs expired grants.
async fn sweep(permissions: Weak<Permissions>, wake: Arc<Notify>) {
    loop {
        let next = match permissions.upgrade() {
            None => return,
            Some(permissions) => {
                let (ended, once) = permissions.lock().once.sweep(Instant::now());
                if ended {
                    permissions.changed();
                }
                if let Err(error) = permissions.write_expired().await {
                    tracing::warn!(%error, "cannot remove expired grants from the disk");
                }
                permissions.lock().next_end().into_iter().chain(once).min()
            }
        };
        let next = next.unwrap_or_else(|| Instant::now() + LONG);
        tokio::select! {
            () = wake.notified() => {}
            () = tokio::time::sleep_until(next) => {}
        }
    }
}
