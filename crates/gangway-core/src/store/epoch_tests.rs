//! When a new epoch of the logs begins, and its effect on their numbers.

use std::path::Path;

use super::*;
use crate::{
    event::{Event, Source},
    id::MessageId,
};

fn message(text: &str) -> Event {
    Event::MessageStarted {
        prompt: text.into(),
        source: Source::Person,
        shown: true,
    }
}

fn delta() -> Event {
    Event::Delta {
        turn: 1,
        message: MessageId::nth(1, 1),
        text: "x".into(),
    }
}

fn open(folder: &Path, boot: &str) -> Store {
    Store::open_in(folder, sync::to_disk(), boot).unwrap()
}

async fn write(store: &Store, session: SessionId, events: Vec<Event>) -> u64 {
    let append = Append {
        session,
        events,
        records: Vec::new(),
        log: None,
        once: None,
    };
    let written = store.append(append).await.unwrap();
    store.keep(written.commit).await.unwrap();
    written.last
}

#[tokio::test]
async fn numbers_continue_after_a_clean_stop_or_a_kill_and_jump_after_a_power_cut() {
    let folder = tempfile::tempdir().unwrap();
    let (session, other) = (SessionId::new(), SessionId::new());
    let store = open(folder.path(), "first");
    assert_eq!(
        write(&store, session, vec![message("one"), delta()]).await,
        2
    );
    assert_eq!(write(&store, other, vec![message("one")]).await, 1);
    store.finish().await.unwrap();
    assert_eq!(store.put(Vec::new()).await.unwrap_err(), Error::Stopping);
    drop(store);
    let store = open(folder.path(), "second");
    assert_eq!(write(&store, session, vec![delta()]).await, 3);
    drop(store);
    let store = open(folder.path(), "second");
    assert_eq!(write(&store, session, vec![delta()]).await, 4);
    drop(store);
    // Neither a clean stop nor the same boot: a power cut.
    let store = open(folder.path(), "third");
    assert_eq!(write(&store, session, vec![delta()]).await, 1_000_001);
    assert_eq!(
        write(&store, session, vec![message("two")]).await,
        1_000_002
    );
    assert_eq!(
        write(&store, SessionId::new(), vec![message("new")]).await,
        1
    );
    drop(store);
    // Each log skips once per loss, with its next write.
    let store = open(folder.path(), "third");
    assert_eq!(write(&store, session, vec![delta()]).await, 1_000_003);
    assert_eq!(write(&store, other, vec![message("two")]).await, 1_000_001);
    let page = store.read(session, 0, usize::MAX).await.unwrap();
    let numbers: Vec<_> = page.events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 1_000_001, 1_000_002, 1_000_003]);
    assert_eq!(store.tail(session, None, 10).await.unwrap().last, 1_000_003);
    assert_eq!(examine(folder.path()).unwrap().damage, []);
    store.trim(session, 4).await.unwrap();
    assert_eq!(store.first(session).await.unwrap(), 4);
}

#[tokio::test]
async fn an_unknown_run_and_a_copy_of_unknown_age_begin_a_new_epoch() {
    let folder = tempfile::tempdir().unwrap();
    let session = SessionId::new();
    let store = open(folder.path(), "");
    assert_eq!(write(&store, session, vec![message("one")]).await, 1);
    drop(store);
    let store = open(folder.path(), "");
    assert_eq!(
        write(&store, session, vec![message("two")]).await,
        1_000_001
    );
    store.finish().await.unwrap();
    drop(store);
    let store = open(folder.path(), "");
    assert_eq!(
        write(&store, session, vec![message("three")]).await,
        1_000_002
    );
    store.finish().await.unwrap();
    drop(store);
    // Like a backup without the mark of synced commits.
    accept_loss(folder.path()).unwrap();
    let store = open(folder.path(), "");
    assert_eq!(
        write(&store, session, vec![message("four")]).await,
        2_000_001
    );
}

#[tokio::test]
async fn a_number_that_was_taken_back_is_a_gap_and_those_around_it_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let session = SessionId::new();
    let store = open(folder.path(), "first");
    write(&store, session, vec![message("one"), delta(), delta()]).await;
    drop(store);
    let store = open(folder.path(), "second");
    write(&store, session, vec![message("two"), message("three")]).await;
    let gap = async |after| store.gap(session, after).await.unwrap();
    for after in [0, 1, 2, 3, 1_000_001, 1_000_002] {
        assert_eq!(gap(after).await, None, "{after}");
    }
    for after in [4, 5, 100, 999_999, 1_000_000] {
        assert_eq!(gap(after).await, Some(Gap::Lost), "{after}");
    }
}
