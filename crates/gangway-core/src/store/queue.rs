//! The way to the writer: the queue of its thread, or, when no write waits, a commit on the caller's own thread.
//!
//! The thread commits all that wait together, which a busy store needs. For a single token every hop between threads
//! costs as much as the commit.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::{request::Request, writer::Writer};
use crate::error::{Error, Result};

/// Capacity of the queue; more writes wait outside.
const WAITING: usize = 1024;

/// Maximum number of requests per commit: enough to amortize it, few enough to answer soon.
const GROUP: usize = 512;

/// The mean time between commits of callers, after a few at once; more of them are worth a common commit.
const APART: Duration = Duration::from_micros(250);
const AT_ONCE: u32 = 4;

/// A commit that takes longer waits for the disk. For a while, callers then leave that to the thread.
const SLOW: Duration = Duration::from_millis(5);
const SLOW_FOR: Duration = Duration::from_secs(1);

pub(super) struct Queue {
    requests: mpsc::Sender<Request>,
    shared: Arc<Shared>,
}

struct Shared {
    place: Mutex<Place>,
    /// Requests that are queued and not committed.
    waiting: AtomicUsize,
}

struct Place {
    /// `None` once the thread has ended.
    writer: Option<Writer>,
    /// From when on a caller may commit.
    alone_from: Instant,
}

impl Queue {
    /// Starts the thread; it ends when the queue is dropped.
    pub(super) fn start(writer: Writer) -> Result<Self> {
        let (requests, queued) = mpsc::channel(WAITING);
        let place = Place {
            writer: Some(writer),
            alone_from: Instant::now(),
        };
        let shared = Arc::new(Shared {
            place: Mutex::new(place),
            waiting: AtomicUsize::new(0),
        });
        let own = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("gangway-write".into())
            .spawn(move || {
                own.run(queued);
                // Closing the database may take a while, which only this thread has.
                let writer = own.place.lock().writer.take();
                drop(writer);
            })
            .map_err(|error| Error::Storage(error.to_string()))?;
        Ok(Self { requests, shared })
    }

    pub(super) async fn send(&self, request: Request) -> Result<()> {
        let place = self.requests.reserve().await;
        let place = place.map_err(|_| super::stopped())?;
        self.shared.waiting.fetch_add(1, Ordering::AcqRel);
        place.send(request);
        Ok(())
    }

    /// Commits and answers a request if none waits and the disk is fast; otherwise it is returned.
    pub(super) fn commit_now(&self, request: Request) -> std::result::Result<(), Request> {
        let Some(mut place) = self.shared.place.try_lock() else {
            return Err(request);
        };
        // Under the lock: what was queued before is committed before.
        let free = self.shared.waiting.load(Ordering::Acquire) == 0;
        let now = Instant::now();
        if !free || now < place.alone_from {
            return Err(request);
        }
        match &place.writer {
            Some(writer) if !writer.must_restart_log() => {}
            _ => return Err(request),
        }
        // As if the commits before were spread over the time since then.
        let before = now.checked_sub(APART * (AT_ONCE - 1));
        let before = before.map_or(now, |before| before.max(place.alone_from));
        place.commit(vec![request], || before + APART);
        Ok(())
    }
}

impl Shared {
    fn run(&self, mut queued: mpsc::Receiver<Request>) {
        while let Some(first) = queued.blocking_recv() {
            // Before the others are collected: a commit of a caller may be under way.
            let mut place = self.place.lock();
            let mut group = vec![first];
            while group.len() < GROUP {
                match queued.try_recv() {
                    Ok(next) => group.push(next),
                    Err(_) => break,
                }
            }
            let number = group.len();
            let committed = || {
                self.waiting.fetch_sub(number, Ordering::AcqRel);
                Instant::now() + APART
            };
            if !place.commit(group, committed) {
                return;
            }
            // Only here can it be done under constant load: no other thread finds a gap between two commits.
            if let Some(writer) = &place.writer {
                writer.restart_log();
            }
        }
    }
}

impl Place {
    /// Commits a group, then answers; false when the store is gone. `committed` says from when on a caller may commit.
    fn commit(&mut self, group: Vec<Request>, committed: impl FnOnce() -> Instant) -> bool {
        let begin = Instant::now();
        let Some(answer) = self.writer.as_mut().and_then(|writer| writer.commit(group)) else {
            return false;
        };
        self.alone_from = committed();
        let end = Instant::now();
        if end - begin > SLOW {
            self.alone_from = end + SLOW_FOR;
        }
        answer();
        true
    }
}
