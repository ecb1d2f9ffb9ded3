//! What a log keeps in memory, and what its readers get.

use jiff::Timestamp;
use tokio::sync::mpsc;

use super::*;
use crate::{
    Damage, SessionId, Store,
    event::{Event, Source},
    id::MessageId,
    session::Status,
    store::{Append, record},
};

fn publish(log: &Log, seq: u64, size: usize) {
    let event = Event::Delta {
        turn: 1,
        message: MessageId::nth(1, 1),
        text: String::new(),
    };
    log.publish(vec![Arc::new(Logged::new(
        seq,
        Timestamp::now(),
        event,
        size,
    ))]);
}

fn numbers(near: InMemory) -> Vec<u64> {
    match near {
        InMemory::Events(events) => events.iter().map(|event| event.seq).collect(),
        InMemory::Far(floor) => panic!("it is in the store up to {floor}"),
    }
}

#[test]
fn a_message_larger_than_the_bound_leaves_what_came_before_it_in_memory() {
    let log = Log::new();
    for seq in 1..=10 {
        publish(&log, seq, 16 << 10);
    }
    publish(&log, 11, 4 << 20);
    publish(&log, 12, 100);
    let events = numbers(log.ring.lock().after(0, usize::MAX));
    assert_eq!(events, (1..=12).collect::<Vec<_>>());
}

#[test]
fn memory_holds_as_much_as_the_bounds_and_one_large_event_allow_and_no_more() {
    let sizes = [20 << 10, LARGE, 3 << 20, 300, LARGE + 1, 2 << 20, 900 << 10];
    let size = |seq: u64| sizes[(seq * seq % 11 % 7) as usize];
    let largest_of = |sizes: &[usize]| {
        let large = sizes.iter().copied().filter(|size| *size > LARGE);
        large.max().unwrap_or(0)
    };
    let fits = |sizes: &[usize]| {
        let bytes: usize = sizes.iter().sum();
        sizes.len() <= RING_EVENTS && bytes - largest_of(sizes) <= RING_BYTES
    };
    let log = Log::new();
    for last in 1..=400 {
        publish(&log, last, size(last));
        let ring = log.ring.lock();
        let held: Vec<usize> = ring.events.iter().map(|event| event.size).collect();
        assert_eq!(ring.floor + held.len() as u64, last);
        assert_eq!(held.iter().sum::<usize>(), ring.bytes);
        assert_eq!(ring.largest, largest_of(&held));
        assert!(fits(&held), "too much at {last}: {held:?}");
        if ring.floor > 0 {
            let more = [&[size(ring.floor)], &held[..]].concat();
            // Which large event is exempt may change while several are dropped at once.
            let exempt = size(last) > LARGE;
            assert!(exempt || !fits(&more), "too little at {last}: {held:?}");
        }
    }
}

#[test]
fn events_of_exactly_the_bound_stay_and_one_more_byte_drops_the_first() {
    let log = Log::new();
    for seq in 1..=16 {
        publish(&log, seq, LARGE);
    }
    assert_eq!(log.ring.lock().bytes, RING_BYTES);
    assert_eq!(log.ring.lock().floor, 0);
    publish(&log, 17, 1);
    assert_eq!(log.ring.lock().floor, 1);
}

#[test]
fn small_events_are_bounded_by_their_number() {
    let log = Log::new();
    for seq in 1..=RING_EVENTS as u64 {
        publish(&log, seq, 1);
    }
    assert_eq!(log.ring.lock().floor, 0);
    publish(&log, RING_EVENTS as u64 + 1, 1);
    assert_eq!(log.ring.lock().floor, 1);
    assert_eq!(log.ring.lock().events.len(), RING_EVENTS);
    assert_eq!(log.head(), RING_EVENTS as u64 + 1);
}

#[test]
fn a_reader_gets_what_follows_its_number_up_to_the_bytes_that_it_takes_and_one_event_in_any_case() {
    let log = Log::new();
    log.begin_after(4);
    for seq in 5..=8 {
        publish(&log, seq, 10);
    }
    let ring = log.ring.lock();
    assert_eq!(numbers(ring.after(4, usize::MAX)), [5, 6, 7, 8]);
    assert_eq!(numbers(ring.after(6, usize::MAX)), [7, 8]);
    assert_eq!(numbers(ring.after(8, usize::MAX)), Vec::<u64>::new());
    assert_eq!(numbers(ring.after(4, 30)), [5, 6, 7]);
    assert_eq!(numbers(ring.after(4, 29)), [5, 6]);
    assert_eq!(numbers(ring.after(5, 1)), [6]);
    assert!(matches!(ring.after(3, 100), InMemory::Far(4)));
}

#[test]
fn damage_ends_a_log_in_another_way_than_a_store_that_fails() {
    let damage = Error::Corrupted(Damage::new("gone"));
    assert_eq!(SubscriptionEnd::from(&damage), SubscriptionEnd::Damaged);
    assert_eq!(
        SubscriptionEnd::from(&Error::StorageFull),
        SubscriptionEnd::Failed
    );
}

/// A session without a worker, whose log the test writes to.
struct Alone {
    _folder: tempfile::TempDir,
    session: Arc<Session>,
    log: Arc<Log>,
}

impl Alone {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let log = Arc::new(Log::new());
        let (requests, _) = mpsc::channel(1);
        let (_, status) = watch::channel(Status::Loading);
        let session = Session::new(SessionId::new(), Arc::clone(&log), store, requests, status);
        Self {
            _folder: folder,
            session: Arc::new(session),
            log,
        }
    }

    fn append(&self, bytes: usize) -> Append {
        let message = Event::MessageStarted {
            prompt: "x".repeat(bytes),
            source: Source::Person,
            shown: true,
        };
        Append {
            session: self.session.id(),
            events: vec![message],
            records: Vec::new(),
            log: Some(Arc::clone(&self.log)),
            once: None,
        }
    }

    async fn write(&self, bytes: usize) {
        let append = self.append(bytes);
        self.session.store().append(append).await.unwrap();
    }
}

async fn read(reader: &mut Subscription, max_bytes: usize) -> Result<Vec<u64>, SubscriptionEnd> {
    let events = reader.next(max_bytes).await.unwrap()?;
    Ok(events.iter().map(|event| event.seq).collect())
}

#[tokio::test]
async fn a_reader_follows_from_its_number_and_knows_whether_it_is_behind() {
    let alone = Alone::new();
    for _ in 0..3 {
        alone.write(1).await;
    }
    let mut reader = alone.session.subscribe(1);
    assert_eq!(reader.after(), 1);
    assert!(reader.is_behind());
    assert_eq!(read(&mut reader, 1).await, Ok(vec![2]));
    assert_eq!(read(&mut reader, 1000).await, Ok(vec![3]));
    assert_eq!(reader.after(), 3);
    assert!(!reader.is_behind());
    let waiting = async { read(&mut reader, 1000).await };
    let (got, ()) = tokio::join!(waiting, alone.write(1));
    assert_eq!(got, Ok(vec![4]));
}

#[tokio::test]
async fn a_reader_that_comes_late_reads_the_store_and_one_that_falls_behind_is_notified() {
    let alone = Alone::new();
    let mut slow = alone.session.subscribe(0);
    alone.write(1).await;
    assert_eq!(read(&mut slow, 1000).await, Ok(vec![1]));
    for _ in 0..6 {
        alone.write(300 << 10).await;
    }
    assert!(alone.log.ring.lock().floor > 1);
    let mut late = alone.session.subscribe(0);
    let mut seen = Vec::new();
    while late.is_behind() {
        seen.extend(read(&mut late, 400 << 10).await.unwrap());
    }
    assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(read(&mut slow, 1000).await, Err(SubscriptionEnd::Slow));
}

#[tokio::test]
async fn a_log_ends_after_what_is_there_was_read() {
    let alone = Alone::new();
    alone.write(1).await;
    alone.log.end(SubscriptionEnd::Deleted);
    let mut reader = alone.session.subscribe(0);
    assert_eq!(read(&mut reader, 1000).await, Ok(vec![1]));
    assert_eq!(read(&mut reader, 1000).await, Err(SubscriptionEnd::Deleted));
}

#[tokio::test]
async fn whatever_waits_while_the_writer_works_is_one_commit() {
    let alone = Alone::new();
    let store = alone.session.store().clone();
    // The writer publishes before it takes the next requests, and is blocked while the log is locked.
    let (release, released) = std::sync::mpsc::sync_channel::<()>(0);
    let (held, is_held) = std::sync::mpsc::sync_channel(0);
    let log = Arc::clone(&alone.log);
    let holder = std::thread::spawn(move || {
        let _ring = log.ring.lock();
        held.send(()).unwrap();
        let _ = released.recv();
    });
    is_held.recv().unwrap();
    // On a thread of its own, which commits while nothing waits.
    let first = tokio::task::spawn_blocking({
        let (store, append) = (store.clone(), alone.append(1));
        move || tokio::runtime::Handle::current().block_on(store.append(append))
    });
    while store.last(alone.session.id()).await.unwrap() == 0 {
        tokio::task::yield_now().await;
    }
    let put = |n: u32| Box::pin(store.put(vec![record(format!("key/{n}"), &n).unwrap()]));
    let mut puts: Vec<_> = (0..20).map(put).collect();
    for put in &mut puts {
        assert!(futures_util::FutureExt::now_or_never(put.as_mut()).is_none());
    }
    drop(release);
    let commits = futures_util::future::try_join_all(puts).await.unwrap();
    let first = first.await.unwrap().unwrap().commit;
    assert!(commits.iter().all(|commit| *commit == commits[0]));
    assert!(first < commits[0]);
    holder.join().unwrap();
}
