//! Connected pages and agents of launches.

use std::{collections::HashMap, sync::Arc, time::Duration};

use gangway_core::{Launch, LaunchId};
use parking_lot::Mutex;
use tokio::sync::watch;

#[derive(Default)]
pub struct Presence {
    counts: Mutex<Counts>,
    /// Signals changes.
    changes: watch::Sender<()>,
}

#[derive(Default)]
struct Counts {
    pages: HashMap<LaunchId, usize>,
    agents: HashMap<LaunchId, usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Page,
    Agent,
}

/// Counts a connection until dropped.
pub struct Present {
    presence: Arc<Presence>,
    launch: LaunchId,
    side: Side,
}

impl Drop for Present {
    fn drop(&mut self) {
        let mut counts = self.presence.counts.lock();
        let counts = counts.side(self.side);
        if let Some(count) = counts.get_mut(&self.launch) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.launch);
            }
        }
        self.presence.changes.send_replace(());
    }
}

impl Counts {
    fn side(&mut self, side: Side) -> &mut HashMap<LaunchId, usize> {
        match side {
            Side::Page => &mut self.pages,
            Side::Agent => &mut self.agents,
        }
    }
}

impl Presence {
    pub fn enter(self: &Arc<Self>, launch: LaunchId, side: Side) -> Present {
        *self.counts.lock().side(side).entry(launch).or_default() += 1;
        self.changes.send_replace(());
        Present {
            presence: Arc::clone(self),
            launch,
            side,
        }
    }

    #[must_use]
    pub fn count(&self, launch: LaunchId, side: Side) -> usize {
        self.counts
            .lock()
            .side(side)
            .get(&launch)
            .copied()
            .unwrap_or(0)
    }

    #[must_use]
    pub fn has_agent(&self, launch: &Launch) -> bool {
        self.count(launch.id, Side::Agent) > 0
    }

    /// Waits until a launch has a page, or has none.
    pub(crate) async fn page_is(&self, launch: LaunchId, there: bool) {
        let mut changes = self.changes.subscribe();
        while (self.count(launch, Side::Page) > 0) != there {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Waits until a launch had no page for this long.
    pub(crate) async fn page_gone(&self, launch: LaunchId, time: Duration) {
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
        let (presence, launch) = (Arc::new(Presence::default()), LaunchId::new());
        let grace = Duration::from_secs(15);
        let gone = presence.page_gone(launch, grace);
        tokio::pin!(gone);
        let page = presence.enter(launch, Side::Page);
        let soon = Duration::from_secs(14);
        assert!(tokio::time::timeout(10 * soon, &mut gone).await.is_err());
        drop(page);
        assert!(tokio::time::timeout(soon, &mut gone).await.is_err());
        let page = presence.enter(launch, Side::Page);
        // Neither an agent nor the page of another launch counts.
        let _agent = presence.enter(launch, Side::Agent);
        let _other = presence.enter(LaunchId::new(), Side::Page);
        assert!(tokio::time::timeout(soon, &mut gone).await.is_err());
        drop(page);
        assert!(tokio::time::timeout(soon, &mut gone).await.is_err());
        assert!(tokio::time::timeout(2 * soon, &mut gone).await.is_ok());
    }
}
