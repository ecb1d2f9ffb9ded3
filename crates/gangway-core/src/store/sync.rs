//! Syncs commits to disk, many at a time, and checkpoints the write-ahead log.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    time::Duration,
};

use tokio::sync::watch;

use super::{Commit, epoch::State, mark::Mark};
use crate::error::{Error, Result};

/// Syncs a file.
pub type Syncer = Arc<dyn Fn(&File) -> io::Result<()> + Send + Sync>;

pub(super) fn to_disk() -> Syncer {
    Arc::new(File::sync_data)
}

/// The write-ahead log is checkpointed above this size: small enough for a quick start.
pub(super) const CHECKPOINT_BYTES: u64 = 4 << 20;

/// The same in pages of the default size.
const CHECKPOINT_PAGES: u64 = CHECKPOINT_BYTES / 4096;

/// Minimum number of commits between two checkpoints: a reader may keep the log from being restarted after one.
const CHECKPOINT_COMMITS: u64 = 256;

/// The committed and synced positions, and the sync thread.
pub(super) struct Syncs {
    committed: AtomicU64,
    /// The number of commits in the database.
    counted: AtomicU64,
    /// Pages in the write-ahead log. Not its size on disk: a restarted log keeps its file.
    pages: Arc<AtomicU64>,
    synced: watch::Sender<u64>,
    requests: mpsc::SyncSender<()>,
    failed: AtomicBool,
    /// Whether a sync is under way.
    busy: AtomicBool,
    /// Whether nearly all of the write-ahead log is in the database, so that the writer can restart it.
    moved: AtomicBool,
}

impl Syncs {
    /// Starts the sync thread of this database.
    pub(super) fn start(file: &Path, syncer: Syncer) -> Result<Arc<Self>> {
        let wal = wal_of(file);
        let log = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&wal)
            .map_err(disk)?;
        if let Some(folder) = file.parent() {
            // The file's name must be durable too.
            File::open(folder)
                .and_then(|folder| folder.sync_all())
                .map_err(disk)?;
        }
        let connection = super::open::writer(file)?;
        let mark = Mark::open(file).map_err(disk)?;
        // A capacity of one suffices: a request that is already queued covers this one.
        let (requests, receiver) = mpsc::sync_channel(1);
        let syncs = Arc::new(Self {
            committed: AtomicU64::new(0),
            counted: AtomicU64::new(State::read(&connection)?.commits),
            pages: Arc::default(),
            synced: watch::Sender::new(0),
            requests,
            failed: AtomicBool::new(false),
            busy: AtomicBool::new(false),
            moved: AtomicBool::new(false),
        });
        let weak = Arc::downgrade(&syncs);
        std::thread::Builder::new()
            .name("gangway-sync".into())
            .spawn(move || {
                let mut checkpointed = 0;
                loop {
                    let request = receiver.recv_timeout(Duration::from_secs(1));
                    let Some(syncs) = weak.upgrade() else { return };
                    match request {
                        Ok(()) if !syncs.sync(&log, &syncer, &mark) => return,
                        Err(RecvTimeoutError::Disconnected) => return,
                        Ok(()) | Err(RecvTimeoutError::Timeout) => {}
                    }
                    let committed = syncs.committed.load(Ordering::Acquire);
                    if committed >= checkpointed + CHECKPOINT_COMMITS
                        && syncs.pages.load(Ordering::Acquire) > CHECKPOINT_PAGES
                    {
                        syncs
                            .moved
                            .store(checkpoint(&connection), Ordering::Release);
                        checkpointed = committed;
                    }
                }
            })
            .map_err(disk)?;
        Ok(syncs)
    }

    /// Counts a commit of the writer.
    pub(super) fn committed(&self, counted: u64) -> Commit {
        self.counted.store(counted, Ordering::Release);
        Commit(self.committed.fetch_add(1, Ordering::AcqRel) + 1)
    }

    /// Where the writer's connection notes the pages in the write-ahead log.
    pub(super) fn pages(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.pages)
    }

    /// Starts a sync of all commits, for a caller that will wait for it.
    pub(super) fn want(&self) {
        let _ = self.requests.try_send(());
    }

    /// Whether the writer should restart the write-ahead log.
    pub(super) fn is_moved(&self) -> bool {
        self.moved.load(Ordering::Acquire)
    }

    /// The same; true once.
    pub(super) fn take_moved(&self) -> bool {
        self.moved.swap(false, Ordering::AcqRel)
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    pub(super) async fn wait(&self, commit: Commit) -> Result<()> {
        let mut synced = self.synced.subscribe();
        while *synced.borrow_and_update() < commit.0 {
            if self.has_failed() {
                return Err(Error::Storage("a sync failed".into()));
            }
            self.want();
            synced.changed().await.map_err(|_| super::stopped())?;
        }
        Ok(())
    }

    /// Waits for the end of a sync that is under way.
    pub(super) async fn pause(&self) {
        let mut synced = self.synced.subscribe();
        if self.busy.load(Ordering::Acquire) {
            let _ = synced.changed().await;
        }
    }

    fn sync(&self, log: &File, syncer: &Syncer, mark: &Mark) -> bool {
        // Read before the sync: later commits may or may not be covered.
        let counted = self.counted.load(Ordering::Acquire);
        let target = self.committed.load(Ordering::Acquire);
        if target == *self.synced.borrow() {
            // The request arrived during the last sync, which covered it.
            return true;
        }
        self.busy.store(true, Ordering::Release);
        let synced = syncer(log);
        // Before those who wait are woken.
        self.busy.store(false, Ordering::Release);
        if let Err(error) = synced {
            // After a failed sync the contents of the disk are unknown, so the store stops accepting writes.
            tracing::error!(%error, "a sync failed; the store accepts no more writes");
            self.failed.store(true, Ordering::Release);
            self.synced.send_modify(|_| {});
            return false;
        }
        if let Err(error) = mark.write(counted) {
            // Without it damage may go unnoticed; nothing is lost.
            tracing::debug!(%error, "cannot write the mark of synced commits");
        }
        self.synced.send_replace(target);
        true
    }
}

/// Checkpoints a large write-ahead log and truncates it.
pub(super) fn shrink(connection: &rusqlite::Connection, file: &Path) {
    let large = std::fs::metadata(wal_of(file)).is_ok_and(|m| m.len() > CHECKPOINT_BYTES);
    if large
        && let Err(error) = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    {
        tracing::warn!(%error, "cannot truncate the write-ahead log");
    }
}

pub(super) fn wal_of(file: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", file.display()))
}

/// Checkpoints what can be moved without blocking anyone.
fn checkpoint(connection: &rusqlite::Connection) -> bool {
    let moved = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    if let Err(error) = &moved {
        tracing::warn!(%error, "cannot checkpoint the write-ahead log");
    }
    moved.is_ok()
}

#[expect(clippy::needless_pass_by_value, reason = "reads well in map_err")]
pub(super) fn disk(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::StorageFull => Error::StorageFull,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Error::StorageReadOnly(error.to_string())
        }
        _ => Error::Storage(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn a_full_and_a_locked_disk_are_distinguished_from_other_errors() {
        let of = |kind: ErrorKind| disk(kind.into());
        assert_eq!(of(ErrorKind::StorageFull), Error::StorageFull);
        for kind in [ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem] {
            assert!(matches!(of(kind), Error::StorageReadOnly(_)), "{kind}");
        }
        assert!(matches!(of(ErrorKind::TimedOut), Error::Storage(_)));
    }
}
