//! P6: after a power cut the store opens and holds a prefix of whole events, including everything acknowledged.
//!
//! A disk that loses unsynced writes is simulated on copies of the files: any subset of the write-ahead log's sectors
//! written since the last sync exists, and the last one may be torn; the database is any mixture of the sectors before
//! and after a checkpoint. Disks that lie about syncs, and the loss of a file's name, are not simulated. Always a small
//! run; 10,000 power cuts with `GANGWAY_FULL=1`.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

use std::{
    collections::BTreeMap,
    fs::File,
    path::Path,
    sync::{Arc, Mutex},
};

use gangway_core::{
    Event, MessageId, SessionId, Source, Store,
    store::{Append, Syncer, examine},
};

const SECTOR: usize = 512;
const CUTS_OF_A_MOMENT: usize = 25;

/// Pseudo-random numbers, the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % end.max(1)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// The bytes of the database and its write-ahead log.
#[derive(Clone, Default)]
struct Files {
    database: Vec<u8>,
    log: Vec<u8>,
}

impl Files {
    fn of(folder: &Path) -> Self {
        let read = |name| std::fs::read(folder.join(name)).unwrap_or_default();
        Self {
            database: read("gangway.db"),
            log: read("gangway.db-wal"),
        }
    }
}

/// The events written to sessions, and how many of them were acknowledged.
#[derive(Default)]
struct Written {
    events: BTreeMap<SessionId, Vec<String>>,
    acknowledged: BTreeMap<SessionId, usize>,
}

/// A file between two states: each sector is old or new, the last may be torn.
fn torn(old: &[u8], new: &[u8], chance: &mut Chance) -> Vec<u8> {
    let in_order = chance.one_in(2);
    let sectors = new.len().max(old.len()).div_ceil(SECTOR);
    let arrived = chance.below(sectors + 1);
    let mut bytes = old.to_vec();
    for sector in 0..sectors {
        let (start, end) = (sector * SECTOR, ((sector + 1) * SECTOR).min(new.len()));
        let is_new = if in_order {
            sector < arrived
        } else {
            chance.one_in(2)
        };
        if !is_new || start >= new.len() {
            continue;
        }
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[start..end].copy_from_slice(&new[start..end]);
    }
    if bytes.len() > old.len() && chance.one_in(3) {
        // In the middle of a sector, after the synced part.
        let cut = old.len() + chance.below(bytes.len() - old.len());
        bytes.truncate(cut);
    }
    bytes
}

fn said(text: String) -> Event {
    Event::MessageStarted {
        prompt: text,
        source: Source::Person,
        shown: true,
    }
}

fn delta(text: String) -> Event {
    Event::Delta {
        turn: 1,
        message: MessageId::nth(1, 1),
        text,
    }
}

/// Opens the files after a power cut, and compares the store with the written events.
async fn check(files: &Files, note: Option<&[u8]>, written: &Written, context: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("gangway.db"), &files.database).unwrap();
    std::fs::write(folder.path().join("gangway.db-wal"), &files.log).unwrap();
    if let Some(note) = note {
        std::fs::write(folder.path().join("gangway.db-synced"), note).unwrap();
    }
    let syncer: Syncer = Arc::new(|_| Ok(()));
    let store = Store::open_in(folder.path(), syncer, "after the power cut");
    let store = store.unwrap_or_else(|error| panic!("{context}: {error}"));
    for (session, events) in &written.events {
        let page = store.read(*session, 0, usize::MAX).await;
        let page = page.unwrap_or_else(|error| panic!("{context}: {error}"));
        let found: Vec<_> = page
            .events
            .iter()
            .map(|logged| serde_json::to_string(&logged.event).unwrap())
            .collect();
        assert!(events.starts_with(&found), "{context}: not a prefix");
        let acknowledged = written.acknowledged.get(session).copied().unwrap_or(0);
        assert!(
            found.len() >= acknowledged,
            "{context}: {} of {acknowledged} acknowledged events",
            found.len()
        );
        // No number that a reader may have seen is assigned again.
        let append = Append {
            session: *session,
            events: vec![said("after".into())],
            records: Vec::new(),
            log: None,
            once: None,
        };
        let next = store.append(append).await.unwrap().last;
        assert!(
            found.is_empty() || usize::try_from(next).unwrap() > events.len(),
            "{context}: {next} was given out before"
        );
    }
    assert_eq!(examine(folder.path()).unwrap().damage, [], "{context}");
}

/// P6
#[tokio::test]
async fn after_a_power_cut_there_is_a_prefix_of_whole_events_with_all_that_was_acknowledged() {
    let full = std::env::var_os("GANGWAY_FULL").is_some();
    let cuts = if full { 10_000 } else { 200 };
    let mut chance = Chance(0x5eed_0006);
    let mut done = 0;
    while done < cuts {
        let folder = tempfile::tempdir().unwrap();
        let durable = Arc::new(Mutex::new(Files::default()));
        let (stored, path) = (Arc::clone(&durable), folder.path().to_owned());
        let syncer: Syncer = Arc::new(move |_: &File| {
            // All earlier writes are on disk from now on.
            *stored.lock().unwrap() = Files::of(&path);
            Ok(())
        });
        let store = Store::open_in(folder.path(), syncer, "before").unwrap();
        *durable.lock().unwrap() = Files::of(folder.path());
        let sessions = [SessionId::new(), SessionId::new()];
        let mut written = Written::default();
        for moment in 0..12 {
            for step in 0..=chance.below(6) {
                let session = sessions[chance.below(2)];
                let text = format!("{moment} {step} {}", "x".repeat(chance.below(3000)));
                let plain = chance.one_in(3);
                let events = vec![if plain { said(text) } else { delta(text) }];
                let log = written.events.entry(session).or_default();
                log.extend(events.iter().map(|e| serde_json::to_string(e).unwrap()));
                let count = log.len();
                let append = Append {
                    session,
                    events,
                    records: Vec::new(),
                    log: None,
                    once: None,
                };
                let place = store.append(append).await.unwrap();
                if plain && chance.one_in(2) {
                    store.keep(place.commit).await.unwrap();
                    for (session, log) in &written.events {
                        // One sync covers everything before it.
                        written.acknowledged.insert(*session, log.len());
                    }
                    assert_eq!(written.acknowledged[&session], count);
                }
            }
            let (old, new) = (durable.lock().unwrap().clone(), Files::of(folder.path()));
            let note = std::fs::read(folder.path().join("gangway.db-synced")).unwrap();
            for cut in 0..CUTS_OF_A_MOMENT {
                let files = Files {
                    database: old.database.clone(),
                    log: torn(&old.log, &new.log, &mut chance),
                };
                let note = (!chance.one_in(4)).then_some(note.as_slice());
                let context = format!("run at {done}, moment {moment}, cut {cut}");
                check(&files, note, &written, &context).await;
                done += 1;
            }
            if chance.one_in(4) {
                // SQLite syncs the log, writes and syncs the database, then truncates the log.
                let before = Files::of(folder.path());
                let connection = rusqlite::Connection::open(folder.path().join("gangway.db"));
                let moved =
                    connection
                        .unwrap()
                        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
                            row.get::<_, i64>(0)
                        });
                assert_eq!(moved.unwrap(), 0);
                let after = Files::of(folder.path());
                for cut in 0..CUTS_OF_A_MOMENT {
                    let files = Files {
                        database: torn(&before.database, &after.database, &mut chance),
                        log: before.log.clone(),
                    };
                    let context = format!("run at {done}, checkpoint {moment}, cut {cut}");
                    check(&files, Some(&note), &written, &context).await;
                    done += 1;
                }
                *durable.lock().unwrap() = after;
            }
        }
    }
    println!("{done} power cuts");
}
