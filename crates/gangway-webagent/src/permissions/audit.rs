//! The audit log of decisions and uses, without arguments and prompts.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use gangway_core::{Actor, Error, Origin, Scope, Store, sanitize::strip_to_line, store};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

const PREFIX: &str = "audit/";

/// Number of entries kept.
pub(super) const KEPT: usize = 10_000;

/// Maximum number of queued entries; further uses are only counted.
const WAITING: usize = 1024;

/// Maximum number of entries per write.
const BATCH: usize = 256;

/// Maximum length of the used name.
const WHAT: usize = 300;

/// A use of a permission.
#[derive(Debug, Clone)]
pub struct PermissionUse {
    /// The permission.
    pub scope: Scope,
    /// The method, or the tool.
    pub what: String,
    /// `ok`, or an error code.
    pub outcome: &'static str,
    /// Who used it.
    pub by: Actor,
}

/// The type of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum EntryKind {
    Decision,
    Use,
}

/// A stored entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredEntry {
    pub(super) at: Timestamp,
    pub(super) origin: String,
    pub(super) kind: EntryKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<Scope>,
    pub(super) what: String,
    pub(super) outcome: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<String>,
}

enum WriteCommand {
    Write(StoredEntry),
    Flush(oneshot::Sender<()>),
}

/// The log, with its writer task.
pub(super) struct Audit {
    store: Store,
    orders: mpsc::Sender<WriteCommand>,
    lost: Arc<AtomicU64>,
}

impl Audit {
    /// Loads the list of entries, and starts the writer.
    pub(super) async fn open(store: Store) -> Result<(Self, HashMap<Origin, Timestamp>), Error> {
        let mut index = EntryIndex::default();
        let mut used = HashMap::new();
        let stored = store.list::<StoredEntry>(PREFIX, None, 2 * KEPT).await?;
        for (key, entry) in stored.into_iter().rev() {
            let number = key.strip_prefix(PREFIX).and_then(|n| n.parse().ok());
            let Some(number) = number else { continue };
            let entry = entry.value;
            if let (EntryKind::Use, Ok(origin)) = (entry.kind, entry.origin.parse()) {
                used.insert(origin, entry.at);
            }
            index.add(number, &entry.origin);
        }
        let (orders, waiting) = mpsc::channel(WAITING);
        tokio::spawn(write(store.clone(), index, waiting));
        let lost = Arc::default();
        let audit = Self {
            store,
            orders,
            lost,
        };
        Ok((audit, used))
    }

    /// Logs a use; only counted if the queue is full.
    pub(super) fn used(&self, origin: &Origin, used: PermissionUse, at: Timestamp) {
        let entry = StoredEntry {
            at,
            origin: origin.to_string(),
            kind: EntryKind::Use,
            scope: Some(used.scope),
            what: strip_to_line(&used.what, WHAT),
            outcome: used.outcome.to_owned(),
            by: Some(used.by.as_str().to_owned()),
        };
        if self.orders.try_send(WriteCommand::Write(entry)).is_err() {
            let before = self.lost.fetch_add(1, Ordering::Relaxed);
            if before.is_multiple_of(1000) {
                let lost = before + 1;
                tracing::warn!(
                    lost,
                    "the audit log's queue is full; some uses are only counted"
                );
            }
        }
    }

    /// Logs a decision; waits for space in the queue, so that none is lost.
    pub(super) async fn decided(&self, entries: Vec<StoredEntry>) {
        for entry in entries {
            // Fails only if the writer has ended, and with it the process.
            self.orders.send(WriteCommand::Write(entry)).await.ok();
        }
    }

    /// Waits until all earlier entries are written.
    pub(super) async fn flush(&self) {
        let (done, written) = oneshot::channel();
        if self.orders.send(WriteCommand::Flush(done)).await.is_ok() {
            written.await.ok();
        }
    }

    /// The number of uses since the start that were not written.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Entries before a number, newest first, with their numbers.
    pub(super) async fn read(
        &self,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(u64, StoredEntry)>, Error> {
        let before = before.map(key);
        let rows = self
            .store
            .list::<StoredEntry>(PREFIX, before.as_deref(), limit)
            .await?;
        let number = |key: &str| key.strip_prefix(PREFIX).and_then(|n| n.parse().ok());
        let rows = rows.into_iter();
        Ok(rows
            .filter_map(|(key, entry)| Some((number(&key)?, entry.value)))
            .collect())
    }
}

/// The stored entries by origin, oldest first.
#[derive(Default)]
struct EntryIndex {
    numbers: HashMap<String, VecDeque<u64>>,
    count: usize,
    last: u64,
}

impl EntryIndex {
    fn add(&mut self, number: u64, origin: &str) {
        let numbers = self.numbers.entry(origin.to_owned()).or_default();
        numbers.push_back(number);
        self.count += 1;
        self.last = self.last.max(number);
    }

    /// A number greater than all others, near the time in microseconds.
    fn number(&mut self, at: Timestamp) -> u64 {
        let now = u64::try_from(at.as_microsecond()).unwrap_or_default();
        now.max(self.last + 1)
    }

    /// Removes excess entries: an origin that fills the log loses only its own entries.
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

async fn write(store: Store, mut index: EntryIndex, mut waiting: mpsc::Receiver<WriteCommand>) {
    let mut orders = Vec::with_capacity(BATCH);
    while waiting.recv_many(&mut orders, BATCH).await > 0 {
        let (mut puts, mut flushed) = (Vec::new(), Vec::new());
        for order in orders.drain(..) {
            match order {
                WriteCommand::Flush(done) => flushed.push(done),
                WriteCommand::Write(entry) => {
                    let number = index.number(entry.at);
                    if let Ok(put) = store::record(key(number), &entry) {
                        index.add(number, &entry.origin);
                        puts.push(put);
                    }
                }
            }
        }
        let surplus = index.surplus().into_iter();
        puts.extend(surplus.map(|number| store::Put::remove(key(number), store::Expect::Any)));
        if !puts.is_empty()
            && let Err(error) = store.put(puts).await
        {
            tracing::error!(%error, "cannot write the audit log");
        }
        for done in flushed {
            done.send(()).ok();
        }
    }
}
