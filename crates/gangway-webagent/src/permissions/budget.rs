//! The model budget of each origin: tokens per day, and concurrent calls.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use gangway_core::{Error, Origin, Store, store};
use jiff::{SignedDuration, Timestamp, civil::Date, tz::TimeZone};
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use ts_rs::TS;
use utoipa::ToSchema;

use super::grants;

/// Where budgets and usage are stored.
const PREFIX: &str = "model-budget/";

/// Default for an origin whose budget was never changed.
pub const TOKENS_PER_DAY: u64 = 200_000;

/// Default for an origin whose budget was never changed.
pub const MAX_CONCURRENT: u32 = 4;

/// The budget of an origin for the user's models, and its usage today.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelBudget {
    /// Tokens per day (UTC), input and output together.
    #[ts(type = "number")]
    pub tokens_per_day: u64,
    /// Concurrent calls.
    pub max_concurrent: u32,
    /// Tokens used today.
    #[ts(type = "number")]
    pub used_today: u64,
    /// When `usedToday` returns to 0.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub resets_at: Timestamp,
}

/// A change to a budget. Fields that are absent stay as they are.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub struct SetBudget {
    /// Tokens per day; 0 blocks every call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "number")]
    pub tokens_per_day: Option<u64>,
    /// Concurrent calls, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_concurrent: Option<u32>,
}

/// The budgets of all origins.
pub struct Budgets {
    store: Store,
    state: Mutex<State>,
    /// Notified when a waiting call may have become the next to run.
    pub(super) freed: Notify,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) last_ticket: u64,
    pub(super) origins: HashMap<Origin, BudgetEntry>,
    /// Origins whose stored record is stale.
    pub(super) changed: HashSet<Origin>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct BudgetEntry {
    pub(super) stored: StoredBudget,
    /// Running calls, and the tokens reserved for them.
    pub(super) open: u32,
    pub(super) reserved: u64,
    /// Tickets of waiting calls, in order of arrival.
    pub(super) waiting: VecDeque<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredBudget {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens_per_day: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_concurrent: Option<u32>,
    /// The UTC day that `used` counts.
    day: Date,
    pub(super) used: u64,
}

impl StoredBudget {
    pub(super) fn tokens_per_day(&self) -> u64 {
        self.tokens_per_day.unwrap_or(TOKENS_PER_DAY)
    }

    pub(super) fn max_concurrent(&self) -> u32 {
        self.max_concurrent.unwrap_or(MAX_CONCURRENT)
    }
}

impl Budgets {
    pub(super) async fn load(store: Store) -> Result<Arc<Self>, Error> {
        let rows = store
            .list::<StoredBudget>(PREFIX, None, 2 * grants::MOST)
            .await?;
        let entry = |(key, record): (String, store::Versioned<StoredBudget>)| {
            let origin = key.strip_prefix(PREFIX)?.parse().ok()?;
            let stored = record.value;
            Some((
                origin,
                BudgetEntry {
                    stored,
                    ..BudgetEntry::default()
                },
            ))
        };
        let state = State {
            origins: rows.into_iter().filter_map(entry).collect(),
            ..State::default()
        };
        Ok(Arc::new(Self {
            store,
            state: Mutex::new(state),
            freed: Notify::new(),
        }))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// The budget of an origin and its use today.
    #[must_use]
    pub fn of(&self, origin: &Origin) -> ModelBudget {
        let now = Timestamp::now();
        let mut state = self.lock();
        let stored = match state.origins.contains_key(origin) {
            true => state.today(origin, now).stored.clone(),
            false => StoredBudget::default(),
        };
        ModelBudget {
            tokens_per_day: stored.tokens_per_day(),
            max_concurrent: stored.max_concurrent(),
            used_today: stored.used,
            resets_at: resets_at(now),
        }
    }

    /// Changes the budget of an origin.
    pub async fn set(&self, origin: &Origin, budget: SetBudget) -> Result<(), Error> {
        {
            let mut state = self.lock();
            let entry = state.today(origin, Timestamp::now());
            entry.stored.tokens_per_day = budget.tokens_per_day.or(entry.stored.tokens_per_day);
            entry.stored.max_concurrent = budget.max_concurrent.or(entry.stored.max_concurrent);
            state.changed.insert(origin.clone());
        }
        self.freed.notify_waiters();
        self.keep().await
    }

    /// Stores the changed records.
    pub async fn keep(&self) -> Result<(), Error> {
        let puts = {
            let mut state = self.lock();
            let changed = std::mem::take(&mut state.changed);
            let record = |origin: &Origin| {
                let stored = &state.origins.get(origin)?.stored;
                Some(store::record(format!("{PREFIX}{origin}"), stored))
            };
            changed
                .iter()
                .filter_map(record)
                .collect::<Result<Vec<_>, _>>()?
        };
        if !puts.is_empty() {
            self.store.put(puts).await?;
        }
        Ok(())
    }
}

impl State {
    /// The entry of an origin; a new day starts with zero.
    pub(super) fn today(&mut self, origin: &Origin, now: Timestamp) -> &mut BudgetEntry {
        let day = now.to_zoned(TimeZone::UTC).date();
        let entry = self.origins.entry(origin.clone()).or_default();
        // Setting the clock back does not restore the budget.
        if day > entry.stored.day {
            (entry.stored.day, entry.stored.used) = (day, 0);
        }
        entry
    }
}

pub(super) fn resets_at(now: Timestamp) -> Timestamp {
    let today = now.to_zoned(TimeZone::UTC).start_of_day();
    today.map_or(now, |today| {
        today.timestamp() + SignedDuration::from_hours(24)
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::{super::lease::OverBudget, *};

    pub(in super::super) async fn budgets() -> (tempfile::TempDir, Arc<Budgets>) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        (folder, Budgets::load(store).await.unwrap())
    }

    pub(in super::super) fn origin(text: &str) -> Origin {
        text.parse().unwrap()
    }

    #[tokio::test]
    async fn concurrent_calls_cannot_spend_the_same_tokens_twice() {
        let (_folder, budgets) = budgets().await;
        let shop = origin("https://shop.example");
        let set = SetBudget {
            tokens_per_day: Some(100),
            max_concurrent: None,
        };
        budgets.set(&shop, set).await.unwrap();
        let mut first = budgets.begin(&shop, 60).await.unwrap();
        assert_eq!(first.left(), 40);
        assert!(matches!(
            budgets.begin(&shop, 41).await,
            Err(OverBudget::Tokens { tokens: 100, .. })
        ));
        first.used(30);
        drop(first);
        assert_eq!(budgets.of(&shop).used_today, 30);
        // A call that is dropped before its usage is known counts as its input.
        drop(budgets.begin(&shop, 70).await.unwrap());
        assert_eq!(budgets.of(&shop).used_today, 100);
        assert!(budgets.begin(&shop, 0).await.is_err());
    }

    #[tokio::test]
    async fn a_budget_is_the_default_until_it_is_set_and_resets_at_midnight() {
        let (_folder, budgets) = budgets().await;
        let shop = origin("https://shop.example");
        let limits = |budgets: &Budgets| {
            let ModelBudget {
                tokens_per_day,
                max_concurrent,
                used_today,
                ..
            } = budgets.of(&shop);
            (tokens_per_day, max_concurrent, used_today)
        };
        assert_eq!(limits(&budgets), (TOKENS_PER_DAY, MAX_CONCURRENT, 0));
        for (tokens_per_day, max_concurrent) in [(Some(7), None), (None, Some(9))] {
            let set = SetBudget {
                tokens_per_day,
                max_concurrent,
            };
            budgets.set(&shop, set).await.unwrap();
        }
        let again = Budgets::load(budgets.store.clone()).await.unwrap();
        assert_eq!(limits(&again), (7, 9, 0));
        let [afternoon, midnight] = ["2026-02-28T15:30:00Z", "2026-03-01T00:00:00Z"]
            .map(|time| time.parse::<Timestamp>().unwrap());
        assert_eq!(resets_at(afternoon), midnight);
        assert!(budgets.of(&shop).resets_at > Timestamp::now());
    }

    #[tokio::test]
    async fn usage_survives_a_restart_and_resets_the_next_day() {
        let (_folder, budgets) = budgets().await;
        let shop = origin("https://shop.example");
        let mut lease = budgets.begin(&shop, 1).await.unwrap();
        lease.used(TOKENS_PER_DAY);
        drop(lease);
        budgets.keep().await.unwrap();
        let again = Budgets::load(budgets.store.clone()).await.unwrap();
        assert_eq!(again.of(&shop).used_today, TOKENS_PER_DAY);
        assert!(again.begin(&shop, 1).await.is_err());
        let tomorrow = Timestamp::now() + SignedDuration::from_hours(24);
        let mut state = again.lock();
        assert_eq!(state.today(&shop, tomorrow).stored.used, 0);
        let yesterday = Timestamp::now();
        state.today(&shop, tomorrow).stored.used = 5;
        assert_eq!(state.today(&shop, yesterday).stored.used, 5);
    }
}
