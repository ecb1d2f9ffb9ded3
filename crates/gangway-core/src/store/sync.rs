//! Brings commits to the disk, many at a time, and moves the write-ahead log into the database now and then.

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

/// How a file is brought to the disk.
pub type Syncer = Arc<dyn Fn(&File) -> io::Result<()> + Send + Sync>;

/// The real thing.
pub(super) fn to_disk() -> Syncer {
    Arc::new(File::sync_data)
}

/// The write-ahead log is moved into the database when it is larger than this: small enough to start quickly.
const CHECKPOINT_BYTES: u64 = 4 << 20;

/// At least this many commits lie between two checkpoints, since the file keeps its size after one.
const CHECKPOINT_COMMITS: u64 = 256;

/// What is committed, what is synced, and the thread between the two.
pub(super) struct Syncs {
    committed: AtomicU64,
    /// The number of commits that the database counts.
    counted: AtomicU64,
    synced: watch::Sender<u64>,
    wanted: mpsc::SyncSender<()>,
    failed: AtomicBool,
    /// Whether nearly all of the write-ahead log is in the database, so that the writer can begin it anew.
    moved: AtomicBool,
}

impl Syncs {
    /// Starts the thread that syncs the write-ahead log of this database.
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
            // The file's own name must survive a power cut too.
            File::open(folder)
                .and_then(|folder| folder.sync_all())
                .map_err(disk)?;
        }
        let connection = super::open::writer(file)?;
        let mark = Mark::open(file).map_err(disk)?;
        // One place is enough: whoever finds it taken is served by the sync that it asks for.
        let (wanted, wishes) = mpsc::sync_channel(1);
        let syncs = Arc::new(Self {
            committed: AtomicU64::new(0),
            counted: AtomicU64::new(State::read(&connection)?.commits),
            synced: watch::Sender::new(0),
            wanted,
            failed: AtomicBool::new(false),
            moved: AtomicBool::new(false),
        });
        let weak = Arc::downgrade(&syncs);
        std::thread::Builder::new()
            .name("gangway-sync".into())
            .spawn(move || {
                let mut checkpointed = 0;
                loop {
                    let wish = wishes.recv_timeout(Duration::from_secs(1));
                    let Some(syncs) = weak.upgrade() else { return };
                    match wish {
                        Ok(()) if !syncs.sync(&log, &syncer, &mark) => return,
                        Err(RecvTimeoutError::Disconnected) => return,
                        Ok(()) | Err(RecvTimeoutError::Timeout) => {}
                    }
                    let committed = syncs.committed.load(Ordering::Acquire);
                    if committed >= checkpointed + CHECKPOINT_COMMITS
                        && log.metadata().is_ok_and(|m| m.len() > CHECKPOINT_BYTES)
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

    /// Counts a commit that the writer made.
    pub(super) fn committed(&self, counted: u64) -> Commit {
        self.counted.store(counted, Ordering::Release);
        Commit(self.committed.fetch_add(1, Ordering::AcqRel) + 1)
    }

    /// Begins a sync of what is committed, for somebody who will wait for it.
    pub(super) fn want(&self) {
        let _ = self.wanted.try_send(());
    }

    /// Whether the writer should begin the write-ahead log anew, asked once.
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
                return Err(Error::Storage("the disk did not take a sync".into()));
            }
            self.want();
            synced.changed().await.map_err(|_| super::stopped())?;
        }
        Ok(())
    }

    fn sync(&self, log: &File, syncer: &Syncer, mark: &Mark) -> bool {
        // Read before the sync: what is committed while it runs may or may not be covered.
        let counted = self.counted.load(Ordering::Acquire);
        let target = self.committed.load(Ordering::Acquire);
        if target == *self.synced.borrow() {
            // Whoever wished for it came while the last sync ran, and was served by it.
            return true;
        }
        if let Err(error) = syncer(log) {
            // After a failed sync nobody knows what the disk holds, so the store takes no more writes.
            tracing::error!(%error, "a sync failed; the store takes no more writes");
            self.failed.store(true, Ordering::Release);
            self.synced.send_modify(|_| {});
            return false;
        }
        if let Err(error) = mark.write(counted) {
            // Damage may go unnoticed without it; nothing is lost.
            tracing::debug!(%error, "the number of synced commits could not be noted");
        }
        self.synced.send_replace(target);
        true
    }
}

/// Moves a large write-ahead log into the database and empties it.
pub(super) fn shrink(connection: &rusqlite::Connection, file: &Path) {
    let large = std::fs::metadata(wal_of(file)).is_ok_and(|m| m.len() > CHECKPOINT_BYTES);
    if large
        && let Err(error) = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    {
        tracing::warn!(%error, "the write-ahead log could not be emptied");
    }
}

pub(super) fn wal_of(file: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", file.display()))
}

/// Moves what can be moved without making anyone wait.
fn checkpoint(connection: &rusqlite::Connection) -> bool {
    let moved = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    if let Err(error) = &moved {
        tracing::warn!(%error, "the write-ahead log could not be checkpointed");
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
    fn a_full_and_a_locked_disk_are_told_apart_from_other_faults() {
        let of = |kind: ErrorKind| disk(kind.into());
        assert_eq!(of(ErrorKind::StorageFull), Error::StorageFull);
        for kind in [ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem] {
            assert!(matches!(of(kind), Error::StorageReadOnly(_)), "{kind}");
        }
        assert!(matches!(of(ErrorKind::TimedOut), Error::Storage(_)));
    }
}
