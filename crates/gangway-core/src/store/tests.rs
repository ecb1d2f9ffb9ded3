//! Guarantees of the store.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use super::*;
use crate::event::{Event, Source};

fn message(text: &str) -> Event {
    Event::MessageStarted {
        prompt: text.into(),
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

#[tokio::test]
async fn events_are_numbered_from_one_without_a_gap_in_each_session() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let (a, b) = (SessionId::new(), SessionId::new());
    let writers = (0..64).map(|n| {
        store.append(append(
            if n % 2 == 0 { a } else { b },
            vec![message("x"), message("y")],
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
async fn numbers_continue_where_they_stopped_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let session = SessionId::new();
    for round in 1..=3 {
        let store = Store::open(folder.path()).unwrap();
        let written = store
            .append(append(session, vec![message("x")]))
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
        .append(append(session, (0..100).map(|_| message("x")).collect()))
        .await
        .unwrap();
    futures_util::future::try_join_all((0..100).map(|_| store.keep(written.commit)))
        .await
        .unwrap();
    // One for all; a caller that checked just before it ended may have requested another one.
    let made = syncs.load(Ordering::SeqCst);
    assert!(made <= 5, "{made} syncs for a hundred waiters");
}

#[tokio::test]
async fn the_disk_begins_with_the_commit_of_what_is_to_be_kept_and_syncs_it_once() {
    let folder = tempfile::tempdir().unwrap();
    let (begun, mut begins) = tokio::sync::mpsc::channel(64);
    let syncer: Syncer = Arc::new(move |file| {
        begun.try_send(()).unwrap();
        file.sync_data()
    });
    let store = Store::open_with(folder.path(), syncer).unwrap();
    let session = SessionId::new();
    for _ in 0..20 {
        let append = append(session, vec![message("x")]);
        let written = store.append_to_keep(append).await.unwrap();
        // It was not requested yet.
        begins.recv().await.unwrap();
        store.keep(written.commit).await.unwrap();
        store.keep(written.commit).await.unwrap();
    }
    assert!(begins.try_recv().is_err(), "something was synced twice");
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
        .append(append(session, vec![message("x")]))
        .await
        .unwrap();
    store.keep(written.commit).await.unwrap();
    broken.store(true, Ordering::SeqCst);
    let written = store
        .append(append(session, vec![message("y")]))
        .await
        .unwrap();
    store.keep(written.commit).await.unwrap_err();
    store
        .append(append(session, vec![message("z")]))
        .await
        .unwrap_err();
}

#[tokio::test]
async fn a_trimmed_log_keeps_its_newest_events_and_its_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let session = SessionId::new();
    store
        .append(append(session, (0..10).map(|_| message("x")).collect()))
        .await
        .unwrap();
    store.trim(session, 3).await.unwrap();
    assert_eq!(store.first(session).await.unwrap(), 8);
    assert_eq!(store.last(session).await.unwrap(), 10);
    assert_eq!(
        store
            .append(append(session, vec![message("x")]))
            .await
            .unwrap()
            .last,
        11
    );
}

#[tokio::test]
async fn the_write_ahead_log_stays_small_under_constant_writing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let text = "x".repeat(1000);
    let write = async |session| {
        for n in 0..1500 {
            let written = store
                .append(append(session, vec![message(&text)]))
                .await
                .unwrap();
            if n % 50 == 0 {
                store.keep(written.commit).await.unwrap();
            }
        }
    };
    futures_util::future::join_all((0..4).map(|_| write(SessionId::new()))).await;
    let size = std::fs::metadata(folder.path().join("gangway.db-wal"))
        .unwrap()
        .len();
    assert!(size < 32 << 20, "it has grown to {size} bytes");
}

#[tokio::test]
async fn after_a_clean_stop_the_database_file_alone_holds_everything() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let session = SessionId::new();
    let written = store.append(append(session, vec![message("hello")])).await;
    store.keep(written.unwrap().commit).await.unwrap();
    store.finish().await.unwrap();
    let copy = tempfile::tempdir().unwrap();
    std::fs::copy(
        folder.path().join("gangway.db"),
        copy.path().join("gangway.db"),
    )
    .unwrap();
    let copied = Store::open(copy.path()).unwrap();
    assert_eq!(copied.read(session, 0, 10).await.unwrap().events.len(), 1);
}
