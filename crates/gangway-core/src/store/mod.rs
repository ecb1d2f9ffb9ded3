//! The store on SQLite: append to a session and get numbers back, read after a number, small keyed records, list by prefix.
//!
//! One thread writes and commits whatever waits, another syncs for everyone who wants it. A commit is in the operating
//! system's hands before anyone sees it (it survives the death of the process); `keep` waits until it is on the disk.

mod open;
mod read;
mod record;
mod sync;
mod writer;

use std::{path::Path, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};
use tokio::sync::mpsc;

pub use read::{Page, Tail};
pub use record::{Expect, Put, Versioned};
pub use sync::Syncer;
use writer::Request;
pub use writer::{Append, Written};

use crate::{
    error::{Error, Result},
    id::SessionId,
};

/// How many writes may wait for the writer; more must wait outside.
const WAITING_WRITES: usize = 1024;

/// A data folder that is open.
#[derive(Clone)]
pub struct Store {
    writes: mpsc::Sender<Request>,
    readers: Arc<read::Readers>,
    syncs: Arc<sync::Syncs>,
}

/// A point in the order of commits that can be waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Commit(pub(crate) u64);

impl Store {
    /// Opens or makes the store in this folder.
    pub fn open(folder: &Path) -> Result<Self> {
        Self::open_with(folder, sync::to_disk())
    }

    /// Opens the store with another way to sync, so that a test can watch, delay or fail it.
    pub fn open_with(folder: &Path, syncer: Syncer) -> Result<Self> {
        let file = folder.join("gangway.db");
        let connection = open::writer(&file)?;
        let readers = Arc::new(read::Readers::new(file.clone()));
        let syncs = sync::Syncs::start(&file, syncer)?;
        let writes = writer::start(connection, Arc::clone(&syncs), WAITING_WRITES)?;
        Ok(Self {
            writes,
            readers,
            syncs,
        })
    }

    /// Numbers, writes and then broadcasts events, with the records that go with them; all or nothing.
    pub async fn append(&self, append: Append) -> Result<Written> {
        let (reply, answer) = tokio::sync::oneshot::channel();
        self.write(Request::Append(append.encode()?, reply)).await?;
        answer.await.map_err(|_| stopped())?
    }

    /// Returns once everything up to this commit is on the disk.
    pub async fn keep(&self, commit: Commit) -> Result<()> {
        self.syncs.wait(commit).await
    }

    /// Drops the deltas of a session after `after` and up to `up_to`; their messages are stored whole.
    pub async fn compact(&self, session: SessionId, after: u64, up_to: u64) -> Result<()> {
        let (reply, answer) = tokio::sync::oneshot::channel();
        let request = Request::Compact {
            session,
            after,
            up_to,
            reply,
        };
        self.write(request).await?;
        answer.await.map_err(|_| stopped())?
    }

    /// Drops all but the newest `keep` events of a session.
    pub async fn trim(&self, session: SessionId, keep: u64) -> Result<()> {
        let (reply, answer) = tokio::sync::oneshot::channel();
        self.write(Request::Trim {
            session,
            keep,
            reply,
        })
        .await?;
        answer.await.map_err(|_| stopped())?
    }

    /// Removes a session's log and these records, for good.
    pub async fn erase(&self, session: SessionId, keys: Vec<String>) -> Result<Commit> {
        let (reply, answer) = tokio::sync::oneshot::channel();
        self.write(Request::Erase {
            session,
            keys,
            reply,
        })
        .await?;
        answer.await.map_err(|_| stopped())?
    }

    /// Writes records, each only if it is as expected; all or nothing.
    pub async fn put(&self, records: Vec<Put>) -> Result<Commit> {
        let (reply, answer) = tokio::sync::oneshot::channel();
        self.write(Request::Put(records, reply)).await?;
        answer.await.map_err(|_| stopped())?
    }

    /// One record, with the version to expect when writing it again.
    pub async fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<Versioned<T>>> {
        let key = key.to_owned();
        let found = self.readers.run(move |c| record::get(c, &key)).await?;
        found.map(|raw| record::decode(&raw)).transpose()
    }

    /// Records whose key starts with `prefix`, newest key first, from before `before` if given.
    pub async fn list<T: DeserializeOwned>(
        &self,
        prefix: &str,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, Versioned<T>)>> {
        let (prefix, before) = (prefix.to_owned(), before.map(str::to_owned));
        let rows = self
            .readers
            .run(move |c| record::list(c, &prefix, before.as_deref(), limit))
            .await?;
        rows.into_iter()
            .map(|(key, raw)| Ok((key, record::decode(&raw)?)))
            .collect()
    }

    /// Events after a number, as many as fit in `max_bytes` (at least one).
    pub async fn read(&self, session: SessionId, after: u64, max_bytes: usize) -> Result<Page> {
        self.readers
            .run(move |c| read::page(c, session, after, max_bytes))
            .await
    }

    /// The newest events before a number, deltas only where their message is not whole yet.
    pub async fn tail(
        &self,
        session: SessionId,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Tail> {
        self.readers
            .run(move |c| read::tail(c, session, before, limit))
            .await
    }

    /// The first and last number the log of a session holds; both 0 when it holds none.
    pub async fn bounds(&self, session: SessionId) -> Result<(u64, u64)> {
        self.readers.run(move |c| read::bounds(c, session)).await
    }

    /// Whether the store still takes writes.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        !self.writes.is_closed() && !self.syncs.has_failed()
    }

    async fn write(&self, request: Request) -> Result<()> {
        if self.syncs.has_failed() {
            return Err(Error::Storage(
                "an earlier sync failed; start again once the disk is well".into(),
            ));
        }
        self.writes.send(request).await.map_err(|_| stopped())
    }
}

/// A record to write, unconditionally.
pub fn record<T: Serialize>(key: impl Into<String>, value: &T) -> Result<Put> {
    Put::new(key, value, Expect::Any)
}

fn stopped() -> Error {
    Error::Storage("the writer has stopped".into())
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Store")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    };

    use super::*;
    use crate::event::{Event, Source};

    fn said(text: &str) -> Event {
        Event::MessageStarted {
            prompt: text.into(),
            source: Source::Person,
        }
    }

    fn append(session: SessionId, events: Vec<Event>) -> Append {
        Append {
            session,
            events,
            records: Vec::new(),
            log: None,
        }
    }

    #[tokio::test]
    async fn events_are_numbered_from_one_without_a_gap_in_each_session() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let (a, b) = (SessionId::new(), SessionId::new());
        let writers = (0..64).map(|n| {
            store.append(append(
                if n % 2 == 0 { a } else { b },
                vec![said("x"), said("y")],
            ))
        });
        futures_util::future::try_join_all(writers).await.unwrap();
        for session in [a, b] {
            let page = store.read(session, 0, usize::MAX).await.unwrap();
            let numbers: Vec<_> = page.events.iter().map(|event| event.seq).collect();
            assert_eq!(numbers, (1..=64).collect::<Vec<_>>());
        }
    }

    #[tokio::test]
    async fn numbers_go_on_where_they_stopped_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let session = SessionId::new();
        for round in 1..=3 {
            let store = Store::open(folder.path()).unwrap();
            let written = store
                .append(append(session, vec![said("x")]))
                .await
                .unwrap();
            assert_eq!(written.last, round);
        }
    }

    #[tokio::test]
    async fn a_record_is_written_only_if_it_is_as_expected_and_all_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let put = |key: &str, value: u32, expect| Put::new(key, &value, expect).unwrap();
        store.put(vec![put("a", 1, Expect::Absent)]).await.unwrap();
        let both = vec![put("b", 1, Expect::Any), put("a", 2, Expect::Absent)];
        assert_eq!(
            store.put(both).await.unwrap_err(),
            Error::Conflict { key: "a".into() }
        );
        assert_eq!(store.get::<u32>("b").await.unwrap(), None);
        store
            .put(vec![put("a", 3, Expect::Version(1))])
            .await
            .unwrap();
        assert_eq!(
            store.get::<u32>("a").await.unwrap(),
            Some(Versioned {
                value: 3,
                version: 2
            })
        );
        store
            .put(vec![put("a", 4, Expect::Version(1))])
            .await
            .unwrap_err();
    }

    #[tokio::test]
    async fn records_are_listed_by_prefix_newest_key_first() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let keys = ["a/1", "a/2", "a/3", "b/1", "a0"];
        store
            .put(keys.iter().map(|key| record(*key, &1).unwrap()).collect())
            .await
            .unwrap();
        let names = |rows: Vec<(String, Versioned<u32>)>| {
            rows.into_iter().map(|(key, _)| key).collect::<Vec<_>>()
        };
        assert_eq!(
            names(store.list("a/", None, 2).await.unwrap()),
            ["a/3", "a/2"]
        );
        assert_eq!(
            names(store.list("a/", Some("a/2"), 2).await.unwrap()),
            ["a/1"]
        );
    }

    #[tokio::test]
    async fn many_waiters_share_a_sync() {
        let folder = tempfile::tempdir().unwrap();
        let syncs = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&syncs);
        let syncer: Syncer = Arc::new(move |file| {
            counted.fetch_add(1, Ordering::SeqCst);
            file.sync_data()
        });
        let store = Store::open_with(folder.path(), syncer).unwrap();
        let session = SessionId::new();
        let written = store
            .append(append(session, (0..100).map(|_| said("x")).collect()))
            .await
            .unwrap();
        futures_util::future::try_join_all((0..100).map(|_| store.keep(written.commit)))
            .await
            .unwrap();
        assert!(
            syncs.load(Ordering::SeqCst) <= 2,
            "one for all, and at most one more that was asked for meanwhile"
        );
    }

    #[tokio::test]
    async fn after_a_failed_sync_nothing_is_kept_and_nothing_more_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let broken = Arc::new(AtomicBool::new(false));
        let breaks = Arc::clone(&broken);
        let syncer: Syncer = Arc::new(move |_| {
            if breaks.load(Ordering::SeqCst) {
                Err(std::io::Error::other("gone"))
            } else {
                Ok(())
            }
        });
        let store = Store::open_with(folder.path(), syncer).unwrap();
        let session = SessionId::new();
        let written = store
            .append(append(session, vec![said("x")]))
            .await
            .unwrap();
        store.keep(written.commit).await.unwrap();
        broken.store(true, Ordering::SeqCst);
        let written = store
            .append(append(session, vec![said("y")]))
            .await
            .unwrap();
        store.keep(written.commit).await.unwrap_err();
        assert!(!store.is_healthy());
        store
            .append(append(session, vec![said("z")]))
            .await
            .unwrap_err();
    }

    #[tokio::test]
    async fn a_trimmed_log_keeps_its_newest_events_and_its_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let session = SessionId::new();
        store
            .append(append(session, (0..10).map(|_| said("x")).collect()))
            .await
            .unwrap();
        store.trim(session, 3).await.unwrap();
        assert_eq!(store.bounds(session).await.unwrap(), (8, 10));
        assert_eq!(
            store
                .append(append(session, vec![said("x")]))
                .await
                .unwrap()
                .last,
            11
        );
    }
}
