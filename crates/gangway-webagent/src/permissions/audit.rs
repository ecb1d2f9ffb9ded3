//! The log of what was decided and what was used. It holds no arguments and no prompts.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use gangway_core::{By, Error, Origin, Scope, Store, sanitize::strip_to_line, store};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

const PREFIX: &str = "audit/";

/// How many entries are kept.
pub(super) const KEPT: usize = 10_000;

/// How many may wait for the disk; of uses past that only the number is kept.
const WAITING: usize = 1024;

/// Written together at the most.
const BATCH: usize = 256;

/// Characters of what was used.
const WHAT: usize = 300;

/// One use of a permission.
#[derive(Debug, Clone)]
pub struct Used {
    /// The permission.
    pub scope: Scope,
    /// The method, or the tool.
    pub what: String,
    /// `ok`, or the code of an error.
    pub outcome: &'static str,
    /// Who used it.
    pub by: By,
}

/// What an entry tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Decision,
    Use,
}

/// An entry as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) at: Timestamp,
    pub(super) origin: String,
    pub(super) kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<Scope>,
    pub(super) what: String,
    pub(super) outcome: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<String>,
}

enum Order {
    Write(Entry),
    Flush(oneshot::Sender<()>),
}

/// The log, with a task that writes it.
pub(super) struct Audit {
    store: Store,
    orders: mpsc::Sender<Order>,
    lost: Arc<AtomicU64>,
}

impl Audit {
    /// Reads which entries there are, and begins to write.
    pub(super) async fn open(store: Store) -> Result<(Self, HashMap<Origin, Timestamp>), Error> {
        let mut shelf = Shelf::default();
        let mut used = HashMap::new();
        let kept = store.list::<Entry>(PREFIX, None, 2 * KEPT).await?;
        for (key, entry) in kept.into_iter().rev() {
            let number = key.strip_prefix(PREFIX).and_then(|n| n.parse().ok());
            let Some(number) = number else { continue };
            let entry = entry.value;
            if let (Kind::Use, Ok(origin)) = (entry.kind, entry.origin.parse()) {
                used.insert(origin, entry.at);
            }
            shelf.add(number, &entry.origin);
        }
        let (orders, waiting) = mpsc::channel(WAITING);
        tokio::spawn(write(store.clone(), shelf, waiting));
        let lost = Arc::default();
        let audit = Self {
            store,
            orders,
            lost,
        };
        Ok((audit, used))
    }

    /// Notes a use; where too many wait, it is only counted.
    pub(super) fn used(&self, origin: &Origin, used: Used, at: Timestamp) {
        let entry = Entry {
            at,
            origin: origin.to_string(),
            kind: Kind::Use,
            scope: Some(used.scope),
            what: strip_to_line(&used.what, WHAT),
            outcome: used.outcome.to_owned(),
            by: Some(used.by.as_str().to_owned()),
        };
        if self.orders.try_send(Order::Write(entry)).is_err() {
            let before = self.lost.fetch_add(1, Ordering::Relaxed);
            if before.is_multiple_of(1000) {
                let lost = before + 1;
                tracing::warn!(lost, "more permissions are used than can be logged");
            }
        }
    }

    /// Notes a decision; it waits for its place, so that none is lost.
    pub(super) async fn decided(&self, entries: Vec<Entry>) {
        for entry in entries {
            // Only a writer that has ended takes none, and then the process does too.
            self.orders.send(Order::Write(entry)).await.ok();
        }
    }

    /// Waits until everything that was noted before is written.
    pub(super) async fn flush(&self) {
        let (done, written) = oneshot::channel();
        if self.orders.send(Order::Flush(done)).await.is_ok() {
            written.await.ok();
        }
    }

    /// How many uses were not written since the start.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Entries from before a number, newest first, with their numbers.
    pub(super) async fn read(
        &self,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(u64, Entry)>, Error> {
        let before = before.map(key);
        let rows = self
            .store
            .list::<Entry>(PREFIX, before.as_deref(), limit)
            .await?;
        let number = |key: &str| key.strip_prefix(PREFIX).and_then(|n| n.parse().ok());
        let rows = rows.into_iter();
        Ok(rows
            .filter_map(|(key, entry)| Some((number(&key)?, entry.value)))
            .collect())
    }
}

/// Which entries are kept, by origin, oldest first.
#[derive(Default)]
struct Shelf {
    numbers: HashMap<String, VecDeque<u64>>,
    count: usize,
    last: u64,
}

impl Shelf {
    fn add(&mut self, number: u64, origin: &str) {
        let numbers = self.numbers.entry(origin.to_owned()).or_default();
        numbers.push_back(number);
        self.count += 1;
        self.last = self.last.max(number);
    }

    /// A number after all others, near the time in microseconds.
    fn number(&mut self, at: Timestamp) -> u64 {
        let now = u64::try_from(at.as_microsecond()).unwrap_or_default();
        now.max(self.last + 1)
    }

    /// Takes what is too much. Who fills the log loses its own entries, and nobody else's.
    fn surplus(&mut self) -> Vec<u64> {
        let mut taken = Vec::new();
        while self.count > KEPT {
            let Some(fullest) = self.numbers.values_mut().max_by_key(|n| n.len()) else {
                break;
            };
            taken.extend(fullest.pop_front());
            self.count -= 1;
        }
        self.numbers.retain(|_, numbers| !numbers.is_empty());
        taken
    }
}

fn key(number: u64) -> String {
    format!("{PREFIX}{number:020}")
}

async fn write(store: Store, mut shelf: Shelf, mut waiting: mpsc::Receiver<Order>) {
    let mut orders = Vec::with_capacity(BATCH);
    while waiting.recv_many(&mut orders, BATCH).await > 0 {
        let (mut puts, mut flushed) = (Vec::new(), Vec::new());
        for order in orders.drain(..) {
            match order {
                Order::Flush(done) => flushed.push(done),
                Order::Write(entry) => {
                    let number = shelf.number(entry.at);
                    if let Ok(put) = store::record(key(number), &entry) {
                        shelf.add(number, &entry.origin);
                        puts.push(put);
                    }
                }
            }
        }
        let surplus = shelf.surplus().into_iter();
        puts.extend(surplus.map(|number| store::Put::remove(key(number), store::Expect::Any)));
        if !puts.is_empty()
            && let Err(error) = store.put(puts).await
        {
            tracing::error!(%error, "the log of permissions cannot be written");
        }
        for done in flushed {
            done.send(()).ok();
        }
    }
}
