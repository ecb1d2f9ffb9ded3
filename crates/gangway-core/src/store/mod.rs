//! The store on SQLite: append-only session logs, and small versioned records by key.
//!
//! One thread commits the queued writes in batches, another one syncs; while no write waits, a caller commits its own. A
//! commit is passed to the operating system before anyone sees it, so it survives the death of the process; `keep` waits until it is on disk.

mod check;
#[cfg(test)]
mod damage_tests;
mod epoch;
#[cfg(test)]
mod epoch_tests;
mod examine;
mod mark;
mod open;
mod queue;
mod read;
mod readers;
mod record;
mod request;
mod row;
mod sum;
mod sync;
mod tail;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod wal_tests;
mod writer;

use std::{path::Path, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};

pub use examine::{Examined, copy_database, examine, integrity_of};
pub use open::{make_private, upgrade};
pub use read::Page;
pub use record::{Expect, Put, Versioned};
use request::Request;
pub use request::{Append, Written};
pub use sync::Syncer;
pub use tail::Tail;

use crate::{
    error::{Error, Result},
    id::SessionId,
    session::Gap,
};

/// The database file in the data folder.
pub const DATABASE: &str = "gangway.db";

/// An open data folder.
#[derive(Clone)]
pub struct Store {
    writes: Arc<queue::Queue>,
    readers: Arc<readers::Readers>,
    syncs: Arc<sync::Syncs>,
}

/// A position in the order of commits that can be waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Commit(pub(crate) u64);

impl Store {
    /// Opens or creates the store in this folder.
    pub fn open(folder: &Path) -> Result<Self> {
        Self::open_with(folder, sync::to_disk())
    }

    /// Opens the store with a custom sync, so that tests can observe, delay or fail it.
    pub fn open_with(folder: &Path, syncer: Syncer) -> Result<Self> {
        Self::open_in(folder, syncer, &epoch::boot())
    }

    /// Opens the store in a named boot of the operating system, so that tests can simulate a power cut.
    pub fn open_in(folder: &Path, syncer: Syncer, boot: &str) -> Result<Self> {
        let file = folder.join(DATABASE);
        let connection = open::writer(&file)?;
        open::keep_log_on_close(&connection, true)?;
        check::at_start(&connection, &file)?;
        epoch::begin(&connection, &file, boot)?;
        open::keep_log_on_close(&connection, false)?;
        // Before anyone writes: a process that crashes soon and often must not leave an ever longer log.
        sync::shrink(&connection, &file);
        let readers = Arc::new(readers::Readers::new(file.clone()));
        let syncs = sync::Syncs::start(&file, syncer)?;
        let writer = writer::Writer::new(connection, &syncs)?;
        let writes = Arc::new(queue::Queue::start(writer)?);
        Ok(Self {
            writes,
            readers,
            syncs,
        })
    }

    /// Numbers, writes and then broadcasts events, with their records; atomic.
    pub async fn append(&self, append: Append) -> Result<Written> {
        self.append_encoded(append.encode()?).await
    }

    /// The same for a caller who will `keep` it at once: the sync starts immediately.
    pub async fn append_to_keep(&self, append: Append) -> Result<Written> {
        let mut append = append.encode()?;
        append.stored = true;
        if append.log.is_none() {
            // A sync that is under way does not cover it, and nobody sees it before the next one: those who wait for that
            // share a commit.
            self.syncs.pause().await;
        }
        self.append_encoded(append).await
    }

    /// Fixes the place of an append in the order of writes. The future that this returns waits until it is written.
    pub(crate) async fn begin_append(
        &self,
        append: Append,
    ) -> Result<impl Future<Output = Result<Written>> + use<>> {
        self.begin_encoded(append.encode()?).await
    }

    async fn append_encoded(&self, append: request::Encoded) -> Result<Written> {
        self.begin_encoded(append).await?.await
    }

    async fn begin_encoded(
        &self,
        append: request::Encoded,
    ) -> Result<impl Future<Output = Result<Written>> + use<>> {
        let (reply, answer) = tokio::sync::oneshot::channel();
        self.check_disk()?;
        if let Err(request) = self.writes.commit_now(Request::Append(append, reply)) {
            self.writes.send(request).await?;
        }
        let readers = Arc::clone(&self.readers);
        Ok(async move {
            let written = answer.await.map_err(|_| stopped())?;
            if let Err(Error::Corrupted(damage)) = &written {
                readers.note(damage);
            }
            written
        })
    }

    /// The number of the event with this idempotency key, if any.
    pub async fn once(&self, session: SessionId, key: &str) -> Result<Option<u64>> {
        let key = key.to_owned();
        self.readers
            .run(move |c| read::once(c, session, &key))
            .await
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

    /// Permanently removes a session's log and these records.
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

    /// Stops all writes after moving everything into the database file: a copy of that file alone is complete, and the
    /// next start knows that nothing was lost.
    pub async fn finish(&self) -> Result<()> {
        let (reply, answer) = tokio::sync::oneshot::channel();
        self.write(Request::Finish(reply)).await?;
        answer.await.map_err(|_| stopped())?
    }

    /// Writes records, each only if it is as expected; atomic.
    pub async fn put(&self, records: Vec<Put>) -> Result<Commit> {
        let (reply, answer) = tokio::sync::oneshot::channel();
        self.write(Request::Put(records, reply)).await?;
        answer.await.map_err(|_| stopped())?
    }

    /// A record, with the version to expect for the next write.
    pub async fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<Versioned<T>>> {
        let key = key.to_owned();
        let found = self.readers.run(move |c| record::get(c, &key)).await?;
        found.map(|raw| record::decode(&raw)).transpose()
    }

    /// Records whose key starts with `prefix`, newest key first, before `before` if given.
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

    /// Keys that start with `prefix`, in order.
    pub async fn keys(&self, prefix: &str, limit: usize) -> Result<Vec<String>> {
        let prefix = prefix.to_owned();
        self.readers
            .run(move |c| record::keys(c, &prefix, limit))
            .await
    }

    /// Events after a number, as many as fit in `max_bytes` (at least one).
    pub async fn read(&self, session: SessionId, after: u64, max_bytes: usize) -> Result<Page> {
        self.readers
            .run(move |c| read::page(c, session, after, max_bytes))
            .await
    }

    /// The newest events before a number; deltas only if their message is incomplete.
    pub async fn tail(
        &self,
        session: SessionId,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Tail> {
        self.readers
            .run(move |c| tail::tail(c, session, before, limit))
            .await
    }

    /// Why a reader cannot resume after this number without a gap.
    pub(crate) async fn gap(&self, session: SessionId, after: u64) -> Result<Option<Gap>> {
        let gap = move |c: &rusqlite::Connection| {
            // One read transaction, so that all queries see the same snapshot.
            let c = c.unchecked_transaction()?;
            read::gap(&c, session, after)
        };
        self.readers.run(gap).await
    }

    /// The first number in a session's log; 0 if it is empty.
    pub async fn first(&self, session: SessionId) -> Result<u64> {
        self.readers.run(move |c| read::first(c, session)).await
    }

    /// The last number in a session's log; 0 if it is empty.
    pub async fn last(&self, session: SessionId) -> Result<u64> {
        let last = move |c: &rusqlite::Connection| {
            // One read transaction, so that all queries see the same snapshot.
            let c = c.unchecked_transaction()?;
            let ends = row::Ends::read(&c, session)?;
            Ok(read::last(&c, session, ends)?.map_or(0, |link| link.seq))
        };
        self.readers.run(last).await
    }

    /// The number of places where reads found damage since the start, at most 1024.
    #[must_use]
    pub fn damaged_places(&self) -> usize {
        self.readers.damaged_places()
    }

    async fn write(&self, request: Request) -> Result<()> {
        self.check_disk()?;
        self.writes.send(request).await
    }

    fn check_disk(&self) -> Result<()> {
        if self.syncs.has_failed() {
            return Err(Error::Storage(
                "an earlier sync failed; fix the disk, then restart".into(),
            ));
        }
        Ok(())
    }
}

/// Accepts the contents of the database although changes are known to be missing. No server may be running on it.
pub fn accept_loss(folder: &Path) -> Result<()> {
    match std::fs::remove_file(mark::path(&folder.join(DATABASE))) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(sync::disk(error)),
        _ => Ok(()),
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
