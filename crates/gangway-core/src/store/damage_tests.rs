//! How the store handles corrupt data.

use std::path::Path;

use rusqlite::Connection;

use super::*;
use crate::{
    error::Damage,
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

fn delta(text: &str) -> Event {
    Event::Delta {
        turn: 1,
        message: MessageId::nth(1, 1),
        text: text.into(),
    }
}

async fn write(store: &Store, session: SessionId, events: Vec<Event>) {
    let append = Append {
        session,
        events,
        records: vec![record(format!("session/{session}"), &"profile").unwrap()],
        log: None,
        once: Some("request".into()),
    };
    let written = store.append(append).await.unwrap();
    store.keep(written.commit).await.unwrap();
}

/// A folder with two sessions of five events and three deltas, everything in the database file.
async fn folder() -> (tempfile::TempDir, SessionId, SessionId) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let (a, b) = (SessionId::new(), SessionId::new());
    for session in [a, b] {
        let events = ["one", "two", "three", "four", "five"].map(message);
        let deltas = ["x", "y", "z"].map(delta);
        write(&store, session, events.into_iter().chain(deltas).collect()).await;
    }
    store.finish().await.unwrap();
    drop(store);
    (folder, a, b)
}

/// Changes rows without the store's knowledge.
fn change(folder: &Path, sql: &str, session: SessionId) -> usize {
    let connection = Connection::open(folder.join(DATABASE)).unwrap();
    connection.execute(sql, [session.as_bytes()]).unwrap()
}

fn place(error: Error) -> (Option<SessionId>, Option<u64>) {
    match error {
        Error::Corrupted(Damage { session, event, .. }) => (session, event),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_changed_moved_swapped_or_missing_event_is_an_error_that_names_it() {
    let cases = [
        (
            "UPDATE events SET body = replace(body, 'three', 'thref') WHERE session = ?1 AND seq = 3",
            3,
        ),
        (
            "UPDATE events SET at = at + 1 WHERE session = ?1 AND seq = 2",
            2,
        ),
        (
            "UPDATE events SET kind = 1 WHERE session = ?1 AND seq = 2",
            2,
        ),
        (
            "UPDATE events SET seq = 100 WHERE session = ?1 AND seq = 5",
            5,
        ),
        ("DELETE FROM events WHERE session = ?1 AND seq = 3", 3),
        ("DELETE FROM events WHERE session = ?1 AND seq = 1", 1),
        ("DELETE FROM events WHERE session = ?1 AND seq = 7", 7),
        ("DELETE FROM events WHERE session = ?1 AND seq >= 4", 5),
        (
            "UPDATE events SET body = (SELECT body FROM events e WHERE e.session = ?1 AND e.seq = 2) WHERE session = ?1 AND seq = 4",
            4,
        ),
        (
            "UPDATE events SET session = zeroblob(16) WHERE session = ?1 AND seq = 4",
            4,
        ),
        ("UPDATE logs SET head = 9 WHERE session = ?1", 0),
    ];
    for (sql, event) in cases {
        let (folder, a, b) = folder().await;
        assert_eq!(
            change(folder.path(), sql, a),
            if sql.contains(">=") { 5 } else { 1 }
        );
        let store = Store::open(folder.path()).unwrap();
        let (session, found) = place(store.read(a, 0, usize::MAX).await.unwrap_err());
        assert_eq!(session, Some(a), "{sql}");
        assert_eq!(found.unwrap_or(0), event, "{sql}");
        assert_eq!(store.damaged_places(), 1);
        // A second reader gets the same error, and it counts once.
        place(store.read(a, 0, usize::MAX).await.unwrap_err());
        assert_eq!(store.damaged_places(), 1);
        if event < 6 {
            place(store.tail(a, None, 100).await.unwrap_err());
        }
        // The other session is intact.
        assert_eq!(store.read(b, 0, usize::MAX).await.unwrap().events.len(), 8);
        assert_eq!(store.tail(b, None, 100).await.unwrap().last, 8);
        write(&store, SessionId::new(), vec![message("new")]).await;
        let examined = examine(folder.path()).unwrap();
        assert!(examined.damaged_places > 0, "{sql}");
        assert!(
            examined
                .damage
                .iter()
                .all(|damage| damage.session != Some(b)),
            "{sql}"
        );
    }
}

#[tokio::test]
async fn a_log_that_lost_its_end_takes_no_more_events_and_gives_no_number_out_again() {
    let (folder, a, _) = folder().await;
    change(
        folder.path(),
        "DELETE FROM events WHERE session = ?1 AND seq >= 4",
        a,
    );
    let store = Store::open(folder.path()).unwrap();
    let append = Append {
        session: a,
        events: vec![message("six")],
        records: Vec::new(),
        log: None,
        once: None,
    };
    let error = store.append(append).await.unwrap_err();
    assert!(error.to_string().contains("its log ends at 3"), "{error}");
    assert_eq!(place(error), (Some(a), Some(5)));
    assert_eq!(place(store.last(a).await.unwrap_err()), (Some(a), Some(5)));
}

#[tokio::test]
async fn a_changed_record_is_an_error_and_so_is_the_absence_of_one_whose_key_changed() {
    let (folder, a, b) = folder().await;
    let connection = Connection::open(folder.path().join(DATABASE)).unwrap();
    let key = format!("session/{a}");
    connection
        .execute("UPDATE records SET version = 7 WHERE key = ?1", [&key])
        .unwrap();
    let store = Store::open(folder.path()).unwrap();
    store.get::<String>(&key).await.unwrap_err();
    store
        .list::<String>("session/", None, 10)
        .await
        .unwrap_err();
    let other = format!("session/{b}");
    assert!(store.get::<String>(&other).await.unwrap().is_some());
    connection
        .execute(
            "UPDATE records SET key = 'zession/x' WHERE key = ?1",
            [&key],
        )
        .unwrap();
    store.get::<String>("yes").await.unwrap_err();
    store
        .list::<String>("session/", None, 10)
        .await
        .unwrap_err();
    assert!(store.get::<String>(&other).await.unwrap().is_some());
}

#[tokio::test]
async fn a_write_ahead_log_that_lost_synced_changes_is_refused_until_the_loss_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let session = SessionId::new();
    write(&store, session, vec![message("one")]).await;
    let copy = tempfile::tempdir().unwrap();
    let copy_file = |end: &str| {
        let name = format!("{DATABASE}{end}");
        std::fs::copy(folder.path().join(&name), copy.path().join(&name)).unwrap();
    };
    copy_file("");
    copy_file("-wal");
    write_more(&store, session).await;
    copy_file("-synced");
    let before = std::fs::read(copy.path().join("gangway.db-wal")).unwrap();
    let error = Store::open(copy.path()).err().unwrap().to_string();
    assert!(error.contains("1 of at least 2 changes"), "{error}");
    assert!(error.contains("gangway doctor --accept-loss"), "{error}");
    let after = std::fs::read(copy.path().join("gangway.db-wal")).unwrap();
    assert_eq!(before, after, "a refused database stays as it is");
    assert_eq!(examine(copy.path()).unwrap().damaged_places, 1);
    accept_loss(copy.path()).unwrap();
    let reopened = Store::open(copy.path()).unwrap();
    assert_eq!(reopened.last(session).await.unwrap(), 1);
}

async fn write_more(store: &Store, session: SessionId) {
    let append = Append {
        session,
        events: vec![message("two")],
        records: Vec::new(),
        log: None,
        once: None,
    };
    let written = store.append(append).await.unwrap();
    store.keep(written.commit).await.unwrap();
}

#[tokio::test]
async fn a_database_without_checksums_gets_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(DATABASE);
    let session = SessionId::new();
    let mut connection = Connection::open(&file).unwrap();
    open::upgrade(&mut connection, &file, &open::STEPS[..2]).unwrap();
    // Like a trimmed log in which the deltas 5 and 6 were dropped.
    for (seq, kind) in [(3, 0), (4, 2), (7, 2), (8, 0), (9, 1)] {
        let event = if kind == 1 { delta("x") } else { message("x") };
        let body = serde_json::to_string(&event).unwrap();
        connection
            .execute(
                "INSERT INTO events (session, seq, at, kind, body) VALUES (?1, ?2, 1, ?3, ?4)",
                rusqlite::params![session.as_bytes(), seq, kind, body],
            )
            .unwrap();
    }
    connection
        .execute(
            "INSERT INTO records (key, version, value) VALUES ('a', 3, '1')",
            [],
        )
        .unwrap();
    connection
        .execute(
            "INSERT INTO once (session, key, seq) VALUES (?1, 'k', 8)",
            [session.as_bytes()],
        )
        .unwrap();
    drop(connection);
    let store = Store::open(folder.path()).unwrap();
    let page = store.read(session, 0, usize::MAX).await.unwrap();
    let numbers: Vec<_> = page.events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, [3, 4, 7, 8, 9]);
    assert_eq!(
        store.tail(session, None, 100).await.unwrap().events.len(),
        5
    );
    assert_eq!(store.once(session, "k").await.unwrap(), Some(8));
    assert_eq!(store.get::<u32>("a").await.unwrap().unwrap().version, 3);
    write_more(&store, session).await;
    // Whether it was stopped cleanly is unknown.
    assert_eq!(store.last(session).await.unwrap(), 1_000_001);
    let examined = examine(folder.path()).unwrap();
    assert_eq!(
        (examined.sessions, examined.events, examined.records),
        (1, 6, 1)
    );
    assert_eq!(examined.damage, []);
}
