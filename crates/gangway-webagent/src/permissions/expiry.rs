//! Expiry of grants: checked at every access, then written by the sweeper.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use gangway_core::{
    Error, Origin, Scope,
    store::{Expect, Put},
};
use jiff::Timestamp;
use tokio::time::Instant;

use super::{
    Permissions, State,
    decide::expired,
    grants::{PREFIX, StoredGrants},
    wire::GrantEnds,
};

/// Maximum interval of the sweeper: timers stop while the machine sleeps, the wall clock does not.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// The wall clock, monotonic within the process: setting the clock back extends no grant.
pub(super) struct Clock {
    wall: Timestamp,
    at: Instant,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            wall: Timestamp::now(),
            at: Instant::now(),
        }
    }
}

impl Clock {
    pub(super) fn now(&self) -> Timestamp {
        let passed = self.wall.checked_add(self.at.elapsed());
        Timestamp::now().max(passed.unwrap_or(self.wall))
    }
}

impl GrantEnds {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn first(&self) -> Option<Timestamp> {
        let ends = self.scopes.values().chain(self.tools.values());
        ends.chain(self.servers.values()).min().copied()
    }
}

/// Sets or removes an expiry.
pub(super) fn note_end<K: Ord>(ends: &mut BTreeMap<K, Timestamp>, key: K, end: Option<Timestamp>) {
    match end {
        Some(end) => ends.insert(key, end),
        None => ends.remove(&key),
    };
}

fn take_ended<K: Ord + Clone>(ends: &mut BTreeMap<K, Timestamp>, now: Timestamp) -> BTreeSet<K> {
    let ended = |(_, end): &(&K, &Timestamp)| **end <= now;
    let ended: BTreeSet<K> = ends
        .iter()
        .filter(ended)
        .map(|(key, _)| key.clone())
        .collect();
    ends.retain(|key, _| !ended.contains(key));
    ended
}

impl StoredGrants {
    /// Removes what has expired; returns the scopes.
    fn expire(&mut self, now: Timestamp) -> BTreeSet<Scope> {
        let scopes = take_ended(&mut self.ends.scopes, now);
        self.scopes.retain(|scope, _| !scopes.contains(scope));
        let tools = take_ended(&mut self.ends.tools, now);
        if let Some(listed) = &mut self.tools {
            listed.retain(|tool| !tools.contains(tool));
        }
        let servers = take_ended(&mut self.ends.servers, now);
        self.servers.retain(|server| !servers.contains(server));
        if scopes.contains(&Scope::ServersRegister) {
            self.servers.clear();
        }
        self.tidy();
        scopes
    }
}

impl State {
    /// Removes what has expired by now; returns whether there was anything.
    pub(super) fn expire(&mut self) -> bool {
        let Some(first) = self.first_end else {
            return false;
        };
        let now = self.clock.now();
        if first > now {
            return false;
        }
        let Self {
            stored, expired, ..
        } = self;
        let due = |stored: &StoredGrants| stored.ends.first().is_some_and(|end| end <= now);
        for (origin, stored) in stored.iter_mut().filter(|(_, stored)| due(stored)) {
            let scopes = stored.expire(now);
            expired.entry(origin.clone()).or_default().extend(scopes);
        }
        stored.retain(|_, stored| !stored.is_empty());
        self.find_first_end();
        true
    }

    pub(super) fn find_first_end(&mut self) {
        self.first_end = self
            .stored
            .values()
            .filter_map(|stored| stored.ends.first())
            .min();
    }

    /// The next expiry, for a timer.
    pub(super) fn next_end(&self) -> Option<Instant> {
        let left = self.first_end?.duration_since(self.clock.now());
        let left = Duration::try_from(left).unwrap_or_default();
        Some(Instant::now() + left.min(LOOK_AGAIN))
    }
}

impl Permissions {
    /// Stores and logs expired grants. What cannot be stored is removed again at the next start.
    pub(super) async fn write_expired(&self) -> Result<(), Error> {
        let _pen = self.writer_lock.lock().await;
        let (ended, puts) = {
            let mut state = self.lock();
            let ended = std::mem::take(&mut state.expired);
            let put = |origin: &Origin| {
                let key = format!("{PREFIX}{origin}");
                match state.stored.get(origin) {
                    Some(stored) => Put::new(key, stored, Expect::Any),
                    None => Ok(Put::remove(key, Expect::Any)),
                }
            };
            let puts = ended.keys().map(put).collect::<Result<Vec<_>, _>>();
            (ended, puts)
        };
        if ended.is_empty() {
            return Ok(());
        }
        self.changed();
        self.audit.decided(expired(&ended)).await;
        self.store.put(puts?).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::HashMap,
        sync::{Arc, Weak},
    };

    use gangway_core::{Grant, GrantDuration};
    use jiff::SignedDuration;

    use super::{super::queue::Queue, *};

    const HOUR: SignedDuration = SignedDuration::from_hours(1);

    /// A time that the clock has not reached, so that it does not advance during a test.
    fn later() -> Timestamp {
        "2200-01-01T00:00:00Z".parse().unwrap()
    }

    fn origin(text: &str) -> Origin {
        text.parse().unwrap()
    }

    /// Three scopes, two tools and two servers; the first of each expires.
    fn kept(end: Timestamp) -> StoredGrants {
        let scopes = [Scope::ModelPrompt, Scope::ToolsCall, Scope::ChatOpen];
        let names = |names: [&str; 2]| names.map(str::to_owned);
        StoredGrants {
            scopes: scopes.map(|scope| (scope, Grant::Always)).into(),
            tools: Some(["a/b", "a/c"].map(|name| name.parse().unwrap()).into()),
            servers: names(["https://a.example", "https://b.example"]).into(),
            ends: GrantEnds {
                scopes: [(Scope::ModelPrompt, end)].into(),
                tools: [("a/b".parse().unwrap(), end)].into(),
                servers: [("https://a.example".to_owned(), end)].into(),
            },
        }
    }

    fn state(stored: impl IntoIterator<Item = (Origin, StoredGrants)>) -> State {
        let queue = Queue::new(Arc::default(), &Weak::new());
        let mut state = State::new(stored.into_iter().collect(), HashMap::new(), queue);
        state.clock = Clock {
            wall: later(),
            at: Instant::now(),
        };
        state
    }

    #[test]
    fn a_grant_lasts_an_hour_a_day_thirty_days_or_until_it_is_revoked() {
        for (duration, hours) in [
            (GrantDuration::Hour, Some(1)),
            (GrantDuration::Day, Some(24)),
            (GrantDuration::Month, Some(720)),
            (GrantDuration::Never, None),
        ] {
            let end = hours.map(|hours| later() + SignedDuration::from_hours(hours));
            assert_eq!(duration.end(later()), end);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_clock_continues_when_the_system_clock_is_set_back() {
        let clock = Clock::default();
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert!(clock.now() >= clock.wall + HOUR);
        let ahead = Clock {
            wall: later(),
            at: Instant::now(),
        };
        assert_eq!(ahead.now(), later());
    }

    #[tokio::test(start_paused = true)]
    async fn what_has_ended_is_dropped_at_the_very_moment_and_the_rest_stays() {
        let (shop, other) = (
            origin("https://shop.example"),
            origin("https://other.example"),
        );
        let soon = later() + SignedDuration::from_nanos(1);
        let mut early = state([(shop.clone(), kept(soon))]);
        assert!(!early.expire());
        assert_eq!(early.stored[&shop], kept(soon));

        let mut state = state([(shop.clone(), kept(later())), (other.clone(), kept(soon))]);
        assert!(state.expire());
        let mut left = kept(later());
        left.scopes.remove(&Scope::ModelPrompt);
        left.tools = Some(["a/c".parse().unwrap()].into());
        left.servers = ["https://b.example".to_owned()].into();
        left.ends = GrantEnds::default();
        assert_eq!(state.stored[&shop], left);
        assert_eq!(state.stored[&other], kept(soon));
        assert_eq!(state.expired, [(shop, [Scope::ModelPrompt].into())].into());
        assert_eq!(state.first_end, Some(soon));
        assert!(!state.expire());
    }

    #[tokio::test(start_paused = true)]
    async fn servers_end_with_their_scope_and_an_origin_with_its_last_grant() {
        let shop = origin("https://shop.example");
        let only = StoredGrants {
            scopes: [(Scope::ServersRegister, Grant::Always)].into(),
            servers: ["https://a.example".to_owned()].into(),
            ends: GrantEnds {
                scopes: [(Scope::ServersRegister, later())].into(),
                ..GrantEnds::default()
            },
            ..StoredGrants::default()
        };
        let mut state = state([(shop, only)]);
        assert!(state.expire());
        assert!(state.stored.is_empty());
        assert_eq!(state.next_end(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_end_is_looked_for_at_least_once_a_minute() {
        let shop = origin("https://shop.example");
        let next = |end| state([(shop.clone(), kept(end))]).next_end().unwrap();
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        assert_eq!(
            next(later() + SignedDuration::from_secs(59)),
            now + 59 * second
        );
        assert_eq!(next(later() + HOUR), now + 60 * second);
        assert_eq!(next(later() - HOUR), now);
    }

    #[test]
    fn ends_are_stored_where_there_are_any() {
        let with = serde_json::to_value(kept(later())).unwrap();
        let mut without = kept(later());
        without.ends = GrantEnds::default();
        let without = serde_json::to_value(without).unwrap();
        assert!(with.get("ends").is_some() && without.get("ends").is_none());
    }
}
