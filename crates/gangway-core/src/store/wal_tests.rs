//! When the write-ahead log is synced and checkpointed, and the effects of a failed commit.

use std::{
    path::Path,
    sync::{Arc, mpsc},
};

use futures_util::FutureExt;

use super::*;
use crate::event::{Event, Source};

const MIB: usize = 1 << 20;

fn message(bytes: usize) -> Event {
    Event::MessageStarted {
        prompt: "x".repeat(bytes),
        source: Source::Person,
        shown: true,
    }
}

fn append(session: SessionId, events: Vec<Event>) -> Append {
    Append {
        session,
        events,
        records: Vec::new(),
        log: None,
        once: None,
    }
}

fn wal_size(folder: &Path) -> usize {
    let file = sync::wal_of(&folder.join(DATABASE));
    usize::try_from(std::fs::metadata(file).unwrap().len()).unwrap()
}

async fn put(store: &Store, n: usize) {
    let commit = store.put(vec![record("key", &n).unwrap()]).await.unwrap();
    store.keep(commit).await.unwrap();
}

#[tokio::test]
async fn nothing_is_kept_before_the_disk_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let (let_go, wait) = mpsc::sync_channel::<()>(8);
    let wait = parking_lot::Mutex::new(wait);
    let syncer: Syncer = Arc::new(move |_| {
        wait.lock().recv().unwrap();
        Ok(())
    });
    let store = Store::open_with(folder.path(), syncer).unwrap();
    let session = SessionId::new();
    for _ in 0..2 {
        let written = store
            .append(append(session, vec![message(1)]))
            .await
            .unwrap();
        let mut keep = Box::pin(store.keep(written.commit));
        assert_eq!(keep.as_mut().now_or_never(), None);
        let_go.send(()).unwrap();
        keep.await.unwrap();
        let again = store.keep(written.commit).now_or_never();
        assert_eq!(again, Some(Ok(())), "the disk has it by now");
    }
}

#[tokio::test]
async fn a_small_write_ahead_log_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let mut before = 0;
    for n in 0..320 {
        put(&store, n).await;
        let size = wal_size(folder.path());
        assert!(size >= before, "it shrank from {before} after {n} commits");
        before = size;
    }
    assert!(before < 4 * MIB, "too large for this test: {before}");
}

#[tokio::test]
async fn a_large_write_ahead_log_is_moved_into_the_database_after_some_commits_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    for _ in 0..2 {
        for _ in 0..10 {
            let append = append(SessionId::new(), vec![message(MIB)]);
            let written = store.append(append).await.unwrap();
            store.keep(written.commit).await.unwrap();
        }
        let size = wal_size(folder.path());
        assert!(size >= 10 * MIB, "it was moved early: {size}");
        for n in 0.. {
            put(&store, n).await;
            if wal_size(folder.path()) <= 4 * MIB {
                break;
            }
            assert!(n < 5000, "it was never moved");
        }
    }
}

/// A store after its process was killed, with a write-ahead log of this size.
async fn killed(mebibytes: usize) -> (tempfile::TempDir, SessionId) {
    let (running, left) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = Store::open(running.path()).unwrap();
    let session = SessionId::new();
    for _ in 0..mebibytes {
        let written = store.append(append(session, vec![message(MIB)])).await;
        store.keep(written.unwrap().commit).await.unwrap();
    }
    for name in ["gangway.db", "gangway.db-wal", "gangway.db-synced"] {
        std::fs::copy(running.path().join(name), left.path().join(name)).unwrap();
    }
    (left, session)
}

#[tokio::test]
async fn a_large_write_ahead_log_is_moved_at_the_start_and_a_small_one_is_not() {
    for (mebibytes, is_moved) in [(6, true), (1, false)] {
        let (folder, session) = killed(mebibytes).await;
        let before = wal_size(folder.path());
        let store = Store::open(folder.path()).unwrap();
        let after = wal_size(folder.path());
        assert_eq!(after < MIB, is_moved, "{before} became {after}");
        let page = store.read(session, 0, usize::MAX).await.unwrap();
        assert_eq!(page.events.len(), mebibytes);
    }
}

#[tokio::test]
async fn a_commit_that_fails_leaves_nothing_behind_and_its_numbers_are_given_out_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let session = SessionId::new();
    let named = || Append {
        once: Some("name".into()),
        records: vec![record("beside", &1).unwrap()],
        ..append(session, vec![message(1), message(1)])
    };
    assert_eq!(store.append(named()).await.unwrap().last, 2);
    let commit = store.put(vec![record("beside", &2).unwrap()]).await;
    store.keep(commit.unwrap()).await.unwrap();
    // The worker would have noticed the duplicate key.
    assert!(matches!(
        store.append(named()).await,
        Err(Error::Storage(_))
    ));
    let stored = store.get::<u32>("beside").await.unwrap().unwrap();
    assert_eq!(stored.value, 2);
    assert_eq!(store.last(session).await.unwrap(), 2);
    let written = store.append(append(session, vec![message(1)])).await;
    assert_eq!(written.unwrap().last, 3);
    assert_eq!(store.once(session, "name").await.unwrap(), Some(2));
    assert_eq!(examine(folder.path()).unwrap().damage, []);
}

#[tokio::test]
async fn an_erased_session_is_gone_with_its_names_and_records_and_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let (gone, stays) = (SessionId::new(), SessionId::new());
    for session in [gone, stays] {
        let append = Append {
            once: Some("name".into()),
            records: vec![record(format!("of/{session}"), &1).unwrap()],
            ..append(session, vec![message(1)])
        };
        store.append(append).await.unwrap();
    }
    store.erase(gone, vec![format!("of/{gone}")]).await.unwrap();
    assert_eq!(store.last(gone).await.unwrap(), 0);
    assert_eq!(store.once(gone, "name").await.unwrap(), None);
    assert_eq!(
        store.keys("of/", 10).await.unwrap(),
        [format!("of/{stays}")]
    );
    assert_eq!(store.last(stays).await.unwrap(), 1);
    assert_eq!(store.once(stays, "name").await.unwrap(), Some(1));
    let written = store.append(append(gone, vec![message(1)])).await.unwrap();
    assert_eq!(written.last, 1, "its numbers begin anew");
    assert_eq!(examine(folder.path()).unwrap().damage, []);
}
