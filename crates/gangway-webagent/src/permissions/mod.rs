//! What the person allowed to pages of other origins: asked for, kept, revoked, and logged with every use.

mod ask;
mod audit;
mod budget;
mod decide;
mod expiry;
mod grants;
mod lease;
mod once;
mod queue;
mod show;
mod site;
mod standing;
pub mod wire;
mod wish;

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

pub use ask::{Answer, NotTaken};
use audit::Audit;
pub use audit::Used;
pub use budget::Budgets;
pub use gangway_core::{AskId, By, TabId};
use grants::Kept;
pub use grants::{NotChanged, Settings};
pub use lease::OverBudget;
pub use once::Presence;
use queue::Queue;
pub use standing::{Refused, Standing};
pub use wish::{Decision, Outcome, TooMany, Wish, WishedServer};

/// Origins whose last use is known; those that are kept always are.
const USED: usize = 2 * grants::MOST;

/// Longer than anything lasts.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

/// What pages may do, and what they ask for.
pub struct Permissions {
    store: Store,
    state: Mutex<State>,
    /// Whoever changes what is kept holds it, so that changes come one after the other.
    pen: tokio::sync::Mutex<()>,
    changes: channel::Sender<u64>,
    asks: Arc<Asks>,
    audit: Audit,
    /// How much of the models each origin may use.
    pub budgets: Arc<Budgets>,
    /// Tells the sweeper that something may end sooner than it thinks.
    wake: Arc<Notify>,
}

struct State {
    kept: BTreeMap<Origin, Kept>,
    once: once::Once,
    queue: Queue,
    /// When origins last used something.
    used: HashMap<Origin, Timestamp>,
    clock: expiry::Clock,
    /// The earliest end of anything that is kept.
    first_end: Option<Timestamp>,
    /// What has ended and is still on the disk.
    expired: BTreeMap<Origin, BTreeSet<Scope>>,
}

impl State {
    fn new(kept: BTreeMap<Origin, Kept>, used: HashMap<Origin, Timestamp>, queue: Queue) -> Self {
        let mut state = Self {
            kept,
            once: once::Once::default(),
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
        let kept = self
            .kept
            .get(origin)
            .and_then(|kept| kept.scopes.get(&scope));
        let mut once = self.once.living(origin, Instant::now());
        match kept {
            Some(grant) => *grant,
            None if once.any(|given| given.scopes.contains(&scope)) => Grant::Once,
            None => Grant::NotGranted,
        }
    }

    /// The lists of tools that count for an origin.
    fn lists<'a>(&'a self, origin: &'a Origin) -> impl Iterator<Item = &'a BTreeSet<ToolName>> {
        let kept = self.kept.get(origin).and_then(|kept| kept.tools.as_ref());
        let once = self.once.living(origin, Instant::now());
        once.filter_map(|given| given.tools.as_ref()).chain(kept)
    }

    fn standing(&self, origin: &Origin) -> Standing {
        let tools: BTreeSet<_> = self.lists(origin).flatten().collect();
        let any = self.lists(origin).next().is_some();
        Standing {
            scopes: Scope::ALL
                .map(|scope| (scope, self.grant(origin, scope)))
                .into(),
            tools: any.then(|| tools.into_iter().cloned().collect()),
        }
    }
}

impl Permissions {
    /// Reads what is kept.
    pub async fn load(store: Store, asks: Arc<Asks>) -> Result<Arc<Self>, Error> {
        let rows = store
            .list::<Kept>(grants::PREFIX, None, grants::MOST)
            .await?;
        let (audit, used) = Audit::open(store.clone()).await?;
        let kept = rows.into_iter().filter_map(|(key, record)| {
            let origin = key.strip_prefix(grants::PREFIX)?.parse().ok()?;
            Some((origin, record.value))
        });
        // An older version kept grants of origins that anyone on the network can speak for.
        let kept = kept
            .filter(|(origin, kept): &(Origin, Kept)| origin.is_authenticated() || !kept.allows());
        let kept = kept.collect();
        let budgets = Budgets::load(store.clone()).await?;
        let permissions = Arc::new_cyclic(|permissions| {
            let queue = Queue::new(Arc::clone(&asks), permissions);
            Self {
                budgets,
                store,
                state: Mutex::new(State::new(kept, used, queue)),
                pen: tokio::sync::Mutex::default(),
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

    /// The state as of now: what has ended is not in it.
    fn lock(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock();
        if state.expire() {
            self.wake.notify_one();
        }
        state
    }

    /// Where an origin stands.
    #[must_use]
    pub fn standing(&self, origin: &Origin) -> Standing {
        self.lock().standing(origin)
    }

    /// Whether an origin may do this now.
    pub fn check(&self, origin: &Origin, scope: Scope) -> Result<(), Refused> {
        match self.lock().grant(origin, scope) {
            Grant::Always | Grant::Once => Ok(()),
            Grant::Denied => Err(Refused::Denied(scope)),
            Grant::NotGranted => Err(Refused::ScopeRequired(scope)),
        }
    }

    /// Whether a tool is among those that an origin may use; whether it may use any is another question.
    pub fn check_tool(&self, origin: &Origin, tool: &ToolName) -> Result<(), Refused> {
        if self.lock().lists(origin).any(|list| list.contains(tool)) {
            return Ok(());
        }
        Err(Refused::ToolNotAllowed(tool.clone()))
    }

    /// Whether the person agreed for good to this server of an origin.
    #[must_use]
    pub fn keeps_server(&self, origin: &Origin, url: &str) -> bool {
        let state = self.lock();
        let kept = state.kept.get(origin);
        kept.is_some_and(|kept| kept.servers.contains(url))
    }

    /// To be held while a page of this tab is connected. Half a minute after the last one is dropped the tab counts as closed.
    pub fn visit(self: &Arc<Self>, origin: &Origin, tab: &TabId) -> Presence {
        Presence::new(self, origin, tab)
    }

    /// Counts up with every change of what any origin may do.
    #[must_use]
    pub fn changes(&self) -> channel::Receiver<u64> {
        self.changes.subscribe()
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Logs a use. It never waits; where more is used than can be written, the rest is counted.
    pub fn note(&self, origin: &Origin, used: Used) {
        let now = Timestamp::now();
        let mut state = self.lock();
        if state.used.len() >= USED {
            let State { used, kept, .. } = &mut *state;
            used.retain(|origin, _| kept.contains_key(origin));
        }
        // Of whoever may do nothing it is not shown.
        if state.kept.contains_key(origin) || state.once.has(origin) {
            state.used.insert(origin.clone(), now);
        }
        drop(state);
        self.audit.used(origin, used, now);
    }

    /// Waits until what was logged so far is written.
    pub async fn flush(&self) {
        self.audit.flush().await;
    }
}

impl Drop for Permissions {
    fn drop(&mut self) {
        self.wake.notify_one();
    }
}

/// Ends grants when their time is over, and says so.
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
                    tracing::warn!(%error, "grants that have ended could not be removed from the disk");
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
