//! When what was always allowed ends: found at every look at the state, then written by the sweeper.

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
    grants::{Kept, PREFIX},
    wire::GrantEnds,
};

/// How often an end is looked for at least: timers stand still while the machine sleeps, the clock on the wall does not.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// The time of day, which never goes back while the process runs: a clock that is set back makes no grant last longer.
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

/// Notes when something ends, or that it does not.
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

impl Kept {
    /// Drops what has ended; the scopes that did.
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
    /// Drops what has ended by now; whether there was anything.
    pub(super) fn expire(&mut self) -> bool {
        let Some(first) = self.first_end else {
            return false;
        };
        let now = self.clock.now();
        if first > now {
            return false;
        }
        let Self { kept, expired, .. } = self;
        let due = |kept: &Kept| kept.ends.first().is_some_and(|end| end <= now);
        for (origin, kept) in kept.iter_mut().filter(|(_, kept)| due(kept)) {
            let scopes = kept.expire(now);
            expired.entry(origin.clone()).or_default().extend(scopes);
        }
        kept.retain(|_, kept| !kept.is_empty());
        self.find_first_end();
        true
    }

    pub(super) fn find_first_end(&mut self) {
        self.first_end = self
            .kept
            .values()
            .filter_map(|kept| kept.ends.first())
            .min();
    }

    /// When the next grant ends, for a timer.
    pub(super) fn next_end(&self) -> Option<Instant> {
        let left = self.first_end?.duration_since(self.clock.now());
        let left = Duration::try_from(left).unwrap_or_default();
        Some(Instant::now() + left.min(LOOK_AGAIN))
    }
}

impl Permissions {
    /// Brings what has ended to the disk and into the log. What cannot be written is dropped again at the next start.
    pub(super) async fn write_expired(&self) -> Result<(), Error> {
        let _pen = self.pen.lock().await;
        let (ended, puts) = {
            let mut state = self.lock();
            let ended = std::mem::take(&mut state.expired);
            let put = |origin: &Origin| {
                let key = format!("{PREFIX}{origin}");
                match state.kept.get(origin) {
                    Some(kept) => Put::new(key, kept, Expect::Any),
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
