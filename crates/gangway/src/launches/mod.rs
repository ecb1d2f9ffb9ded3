//! Apps that agents open: who may see which page, what app and agent say to each other, and what apps may ask for.

mod actions;
mod deliver;
mod inbox;
mod launch;
mod pass;

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

pub use actions::ACTIONS;
pub use deliver::{Emit, Request};
use gangway_core::{AppName, LaunchId};
pub use inbox::{Inbox, Item};
pub use launch::{Launched, Wish, checked_origin, is_ours, is_version, seen};
use pass::Known;
pub use pass::{Admission, Opened, Shown, Token};

use tokio::sync::watch;

use gangway_apps::cache::Cache;

/// Addresses that are remembered, and bytes of the launches they lead to.
const KNOWN: usize = 1000;
const KNOWN_BYTES: usize = 8 << 20;

/// What is only in memory of the launches.
pub struct Launches {
    held: Mutex<Held>,
    /// Rings when a page comes or goes.
    pages: watch::Sender<()>,
    /// Addresses that were opened lately, by launch and hash.
    known: Cache<(LaunchId, String), Arc<Known>>,
    /// One writer at a time, since a change reads the storage of an app first.
    pub storing: tokio::sync::Mutex<()>,
}

impl Default for Launches {
    fn default() -> Self {
        Self {
            held: Mutex::default(),
            pages: watch::Sender::default(),
            known: Cache::new(KNOWN, KNOWN_BYTES),
            storing: tokio::sync::Mutex::default(),
        }
    }
}

#[derive(Default)]
struct Held {
    /// Pages and agents that are connected now.
    pages: HashMap<LaunchId, usize>,
    agents: HashMap<LaunchId, usize>,
    /// What waits for agents from outside.
    inboxes: HashMap<LaunchId, Arc<Inbox>>,
    /// Requests that Gangway itself is busy with.
    busy: HashSet<(LaunchId, String)>,
    /// Questions about each app that are before the person.
    asking: HashMap<AppName, usize>,
}

/// Which side of a launch is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The app's page.
    Page,
    /// Its agent.
    Agent,
}

/// Counts a connection until dropped.
pub struct Present {
    launches: Arc<Launches>,
    launch: LaunchId,
    side: Side,
}

impl Drop for Present {
    fn drop(&mut self) {
        let mut held = self.launches.held();
        let counts = held.side(self.side);
        if let Some(count) = counts.get_mut(&self.launch) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.launch);
            }
        }
        drop(held);
        self.launches.pages.send_replace(());
    }
}

impl Held {
    fn side(&mut self, side: Side) -> &mut HashMap<LaunchId, usize> {
        match side {
            Side::Page => &mut self.pages,
            Side::Agent => &mut self.agents,
        }
    }
}

/// Questions about one app at a time; more would shut out everyone else who asks.
const QUESTIONS: usize = 3;

/// A question about an app, until dropped.
pub(crate) struct Asking<'a>(&'a Launches, AppName);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut held = self.0.held();
        if let Some(count) = held.asking.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                held.asking.remove(&self.1);
            }
        }
    }
}

impl Launches {
    /// A place for a question about an app, unless it has too many already.
    fn ask(&self, app: &AppName) -> Option<Asking<'_>> {
        let mut held = self.held();
        let count = held.asking.entry(app.clone()).or_default();
        if *count >= QUESTIONS {
            return None;
        }
        *count += 1;
        Some(Asking(self, app.clone()))
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection.
    pub fn enter(self: &Arc<Self>, launch: LaunchId, side: Side) -> Present {
        *self.held().side(side).entry(launch).or_default() += 1;
        self.pages.send_replace(());
        Present {
            launches: Arc::clone(self),
            launch,
            side,
        }
    }

    /// How many are connected on a side.
    #[must_use]
    pub fn present(&self, launch: LaunchId, side: Side) -> usize {
        self.held().side(side).get(&launch).copied().unwrap_or(0)
    }

    /// Waits until a page of a launch is there, or none is.
    async fn page_is(&self, launch: LaunchId, there: bool) {
        let mut changes = self.pages.subscribe();
        while (self.present(launch, Side::Page) > 0) != there {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Waits until no page of a launch was there for so long.
    async fn page_gone(&self, launch: LaunchId, time: Duration) {
        loop {
            self.page_is(launch, false).await;
            let back = tokio::time::timeout(time, self.page_is(launch, true));
            if back.await.is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_page_has_gone_when_it_did_not_come_back_in_time() {
        let (launches, launch) = (Arc::new(Launches::default()), LaunchId::new());
        let grace = Duration::from_secs(15);
        let gone = launches.page_gone(launch, grace);
        tokio::pin!(gone);
        let page = launches.enter(launch, Side::Page);
        let soon = Duration::from_secs(14);
        assert!(tokio::time::timeout(10 * soon, &mut gone).await.is_err());
        drop(page);
        assert!(tokio::time::timeout(soon, &mut gone).await.is_err());
        let page = launches.enter(launch, Side::Page);
        // Neither an agent nor the page of another launch counts.
        let _agent = launches.enter(launch, Side::Agent);
        let _other = launches.enter(LaunchId::new(), Side::Page);
        assert!(tokio::time::timeout(soon, &mut gone).await.is_err());
        drop(page);
        assert!(tokio::time::timeout(soon, &mut gone).await.is_err());
        assert!(tokio::time::timeout(2 * soon, &mut gone).await.is_ok());
    }
}
