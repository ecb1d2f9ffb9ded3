//! "Allow once": for ten minutes, or until the tab of the request is closed.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use gangway_core::{Origin, Scope, TabId, ToolName};
use tokio::time::Instant;

use super::Permissions;

/// Maximum duration.
const LASTS: Duration = Duration::from_secs(10 * 60);

/// How long a tab may be without a page of the origin, as while it loads one.
const AWAY: Duration = Duration::from_secs(30);

/// Maximum number of tabs with a grace period; beyond it, a page that leaves is gone.
const TABS: usize = 10_000;

/// An open page. Its tab counts as closed some time after the last one of them was dropped.
pub struct Presence {
    permissions: Arc<Permissions>,
    origin: Origin,
    tab: TabId,
}

impl Presence {
    pub(super) fn new(permissions: &Arc<Permissions>, origin: &Origin, tab: &TabId) -> Self {
        permissions.lock().once.come(origin, tab);
        Self {
            permissions: Arc::clone(permissions),
            origin: origin.clone(),
            tab: tab.clone(),
        }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let now = Instant::now();
        self.permissions
            .lock()
            .once
            .leave(&self.origin, &self.tab, now);
        self.permissions.wake.notify_one();
    }
}

/// Everything that is allowed once, and the open tabs.
#[derive(Default)]
pub(super) struct OnceGrants {
    tabs: HashMap<(Origin, TabId), Tab>,
    given: HashMap<Origin, Vec<OnceGrant>>,
}

struct Tab {
    pages: usize,
    gone_at: Instant,
}

/// The effect of one answer.
pub(super) struct OnceGrant {
    tab: TabId,
    until: Instant,
    pub(super) scopes: BTreeSet<Scope>,
    pub(super) tools: Option<BTreeSet<ToolName>>,
}

impl OnceGrants {
    fn come(&mut self, origin: &Origin, tab: &TabId) {
        let key = (origin.clone(), tab.clone());
        let gone_at = Instant::now();
        self.tabs
            .entry(key)
            .or_insert(Tab { pages: 0, gone_at })
            .pages += 1;
    }

    fn leave(&mut self, origin: &Origin, tab: &TabId, now: Instant) {
        let key = (origin.clone(), tab.clone());
        let crowded = self.tabs.len() > TABS;
        if let Some(tab) = self.tabs.get_mut(&key) {
            tab.pages -= 1;
            tab.gone_at = now + AWAY;
            if tab.pages == 0 && crowded {
                self.tabs.remove(&key);
            }
        }
    }

    /// Adds what was allowed.
    pub(super) fn give(
        &mut self,
        origin: &Origin,
        tab: TabId,
        scopes: BTreeSet<Scope>,
        tools: Option<BTreeSet<ToolName>>,
    ) {
        self.given
            .entry(origin.clone())
            .or_default()
            .push(OnceGrant {
                tab,
                until: Instant::now() + LASTS,
                scopes,
                tools,
            });
    }

    fn end(&self, origin: &Origin, given: &OnceGrant, now: Instant) -> Instant {
        let tab = self.tabs.get(&(origin.clone(), given.tab.clone()));
        tab.map_or(now, |tab| match tab.pages {
            0 => given.until.min(tab.gone_at),
            _ => given.until,
        })
    }

    /// What an origin has now.
    pub(super) fn living<'a>(
        &'a self,
        origin: &'a Origin,
        now: Instant,
    ) -> impl Iterator<Item = &'a OnceGrant> {
        let given = self.given.get(origin).into_iter().flatten();
        given.filter(move |given| self.end(origin, given, now) > now)
    }

    /// The origins that have something.
    pub(super) fn origins(&self) -> impl Iterator<Item = &Origin> {
        self.given.keys()
    }

    /// Whether an origin has something, or had it a moment ago.
    pub(super) fn has(&self, origin: &Origin) -> bool {
        self.given.contains_key(origin)
    }

    /// Changes what an origin has; removes empty entries.
    pub(super) fn narrow(&mut self, origin: &Origin, change: impl Fn(&mut OnceGrant)) {
        if let Some(given) = self.given.get_mut(origin) {
            given.iter_mut().for_each(change);
            for given in given.iter_mut() {
                // Tools need a scope that lets a page use them; alone they only add to "always allow".
                given
                    .tools
                    .take_if(|tools| tools.is_empty() && given.scopes.is_empty());
            }
            given.retain(|given| !given.scopes.is_empty() || given.tools.is_some());
        }
        self.given.retain(|_, given| !given.is_empty());
    }

    /// Revokes everything of an origin.
    pub(super) fn forget(&mut self, origin: &Origin) {
        self.given.remove(origin);
    }

    /// Revokes everything.
    pub(super) fn forget_all(&mut self) -> impl Iterator<Item = Origin> + use<> {
        std::mem::take(&mut self.given).into_keys()
    }

    /// Removes what has expired: whether there was anything, and when to check again.
    pub(super) fn sweep(&mut self, now: Instant) -> (bool, Option<Instant>) {
        let mut all = std::mem::take(&mut self.given);
        let (mut any, mut next) = (false, None);
        for (origin, given) in &mut all {
            let before = given.len();
            given.retain(|given| self.end(origin, given, now) > now);
            any |= given.len() != before;
            let ends = given.iter().map(|given| self.end(origin, given, now));
            next = ends.chain(next).min();
        }
        all.retain(|_, given| !given.is_empty());
        self.given = all;
        self.tabs
            .retain(|_, tab| tab.pages > 0 || tab.gone_at > now);
        let away = self.tabs.values().filter(|tab| tab.pages == 0);
        (any, away.map(|tab| tab.gone_at).chain(next).min())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn shop() -> Origin {
        "https://shop.example".parse().unwrap()
    }

    fn tab(number: usize) -> TabId {
        format!("{number:032x}").parse().unwrap()
    }

    /// A site with one page in one tab and one scope.
    fn allowed() -> OnceGrants {
        let mut once = OnceGrants::default();
        once.come(&shop(), &tab(1));
        once.give(&shop(), tab(1), [Scope::ModelPrompt].into(), None);
        once
    }

    fn lives(once: &OnceGrants, at: Instant) -> bool {
        once.living(&shop(), at).next().is_some()
    }

    #[tokio::test(start_paused = true)]
    async fn it_lasts_ten_minutes_while_its_tab_is_open() {
        let (mut once, now) = (allowed(), Instant::now());
        let end = now + 600 * SECOND;
        assert!(lives(&once, now) && lives(&once, end - SECOND) && !lives(&once, end));
        let other = "https://other.example".parse().unwrap();
        assert!(once.living(&other, now).next().is_none() && !once.has(&other));
        assert_eq!(once.sweep(end - SECOND), (false, Some(end)));
        assert!(once.has(&shop()));
        assert_eq!(once.origins().collect::<Vec<_>>(), [&shop()]);
        assert_eq!(once.sweep(end), (true, None));
        assert!(!once.has(&shop()));
        // The tab is still open.
        once.give(&shop(), tab(1), [Scope::ChatOpen].into(), None);
        assert!(lives(&once, now));
    }

    #[tokio::test(start_paused = true)]
    async fn it_ends_half_a_minute_after_the_last_page_of_its_tab() {
        let (mut once, now) = (allowed(), Instant::now());
        once.come(&shop(), &tab(1));
        once.leave(&shop(), &tab(1), now);
        assert!(lives(&once, now + 31 * SECOND));
        once.leave(&shop(), &tab(1), now);
        assert!(lives(&once, now + 29 * SECOND) && !lives(&once, now + 30 * SECOND));
        // The page was only reloaded.
        once.come(&shop(), &tab(1));
        assert!(lives(&once, now + 599 * SECOND));
        once.leave(&shop(), &tab(1), now + 10 * SECOND);
        let end = now + 40 * SECOND;
        assert_eq!(once.sweep(end - SECOND), (false, Some(end)));
        assert_eq!(once.sweep(end), (true, None));
        // A tab without a page was closed before.
        once.give(&shop(), tab(1), [Scope::ChatOpen].into(), None);
        assert!(!lives(&once, now));
    }

    #[tokio::test(start_paused = true)]
    async fn what_ends_first_is_swept_first() {
        let (mut once, now) = (allowed(), Instant::now());
        once.come(&shop(), &tab(2));
        once.give(&shop(), tab(2), [Scope::ChatOpen].into(), None);
        once.leave(&shop(), &tab(2), now);
        let first = now + 30 * SECOND;
        assert_eq!(once.sweep(now), (false, Some(first)));
        assert_eq!(once.sweep(first), (true, Some(now + 600 * SECOND)));
        let shop = shop();
        let left = once.living(&shop, first).map(|given| &given.scopes);
        assert_eq!(left.collect::<Vec<_>>(), [&[Scope::ModelPrompt].into()]);
    }

    #[tokio::test(start_paused = true)]
    async fn where_too_many_tabs_are_open_one_is_closed_with_its_last_page() {
        let (mut once, now) = (allowed(), Instant::now());
        for number in 2..=TABS {
            once.come(&shop(), &tab(number));
        }
        once.leave(&shop(), &tab(1), now);
        assert!(lives(&once, now));
        for number in [1, 1, TABS + 1] {
            once.come(&shop(), &tab(number));
        }
        once.leave(&shop(), &tab(1), now);
        assert!(lives(&once, now));
        once.leave(&shop(), &tab(1), now);
        assert!(!lives(&once, now));
    }

    #[tokio::test(start_paused = true)]
    async fn what_holds_nothing_any_more_is_dropped() {
        let mut once = OnceGrants::default();
        let tools: BTreeSet<ToolName> = ["a/b".parse().unwrap()].into();
        once.give(
            &shop(),
            tab(1),
            [Scope::ModelPrompt, Scope::ChatOpen].into(),
            None,
        );
        once.give(&shop(), tab(1), BTreeSet::new(), Some(tools));
        once.give(
            &shop(),
            tab(1),
            [Scope::ToolsCall].into(),
            Some(BTreeSet::new()),
        );
        let held = |once: &OnceGrants| -> Vec<_> {
            let given = once.given.get(&shop()).into_iter().flatten();
            given
                .map(|given| (given.scopes.len(), given.tools.as_ref().map(BTreeSet::len)))
                .collect()
        };
        once.narrow(&shop(), |given| {
            given.scopes.remove(&Scope::ModelPrompt);
        });
        assert_eq!(held(&once), [(1, None), (0, Some(1)), (1, Some(0))]);
        once.narrow(&shop(), |given| {
            given.scopes.remove(&Scope::ChatOpen);
            given.tools.iter_mut().for_each(BTreeSet::clear);
        });
        assert_eq!(held(&once), [(1, Some(0))]);
        once.forget(&shop());
        assert!(!once.has(&shop()));
        once.give(&shop(), tab(1), [Scope::ChatOpen].into(), None);
        assert_eq!(once.forget_all().collect::<Vec<_>>(), [shop()]);
        assert!(!once.has(&shop()));
    }
}
