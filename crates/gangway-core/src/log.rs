//! The live end of a session's log: the newest events in memory, and readers that pull from it at their own pace.
//!
//! A reader is a number. What it has not seen comes from memory when it is near the end and from the store when it is
//! not, so nobody queues anything for anyone, and a slow reader costs the others nothing.

#[cfg(test)]
mod tests;

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::{
    error::{Error, Result},
    event::Logged,
    session::Session,
};

/// Events and bytes a live session holds in memory: what a reader may lag behind before it is told to resume.
const RING_EVENTS: usize = 4096;
const RING_BYTES: usize = 1 << 20;

/// The largest event above this size does not count, or one long message would push out what readers are about to read.
const LARGE: usize = 64 << 10;

/// Why a log says nothing more to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The reader fell too far behind; it can resume after the number it saw last.
    Slow,
    /// The session was deleted.
    Deleted,
    /// The server is stopping.
    Stopping,
    /// The store took no more writes.
    Failed,
    /// What is stored next is damaged.
    Damaged,
}

impl From<&Error> for Ended {
    fn from(error: &Error) -> Self {
        match error {
            Error::Corrupted(_) => Self::Damaged,
            _ => Self::Failed,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Head {
    seq: u64,
    ended: Option<Ended>,
}

/// The newest events of one live session.
#[derive(Debug)]
pub struct Log {
    ring: Mutex<Ring>,
    head: watch::Sender<Head>,
}

#[derive(Debug)]
struct Ring {
    events: VecDeque<Arc<Logged>>,
    bytes: usize,
    /// The size of the largest event, if it is `LARGE`; 0 otherwise.
    largest: usize,
    /// The number before the first event in the ring.
    floor: u64,
}

impl Log {
    /// An empty ring.
    pub(crate) fn new() -> Self {
        Self {
            ring: Mutex::new(Ring {
                events: VecDeque::new(),
                bytes: 0,
                largest: 0,
                floor: 0,
            }),
            head: watch::Sender::new(Head {
                seq: 0,
                ended: None,
            }),
        }
    }

    /// Starts the ring after what the store holds already.
    pub(crate) fn begin_after(&self, seq: u64) {
        self.ring.lock().floor = seq;
        self.head.send_modify(|head| head.seq = seq);
    }

    /// Shows events that are written; only the store's writer calls it, in the order of commits.
    pub(crate) fn publish(&self, events: Vec<Arc<Logged>>) {
        let Some(last) = events.last().map(|event| event.seq) else {
            return;
        };
        {
            let mut ring = self.ring.lock();
            for event in events {
                ring.push(event);
            }
            ring.trim();
        }
        self.head.send_modify(|head| head.seq = last);
    }

    /// Ends every subscription with this reason, after what is already there was read.
    pub(crate) fn end(&self, why: Ended) {
        self.head.send_modify(|head| head.ended = Some(why));
    }

    /// The number of the newest event.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.head.borrow().seq
    }
}

/// What memory holds for a reader.
enum Near {
    Events(Vec<Arc<Logged>>),
    /// The reader's next event has left memory; everything up to this number is in the store.
    Far(u64),
}

impl Ring {
    fn push(&mut self, event: Arc<Logged>) {
        self.bytes += event.size;
        if event.size > LARGE {
            self.largest = self.largest.max(event.size);
        }
        self.events.push_back(event);
    }

    fn trim(&mut self) {
        while self.events.len() > RING_EVENTS || self.bytes - self.largest > RING_BYTES {
            let Some(oldest) = self.events.pop_front() else {
                break;
            };
            self.bytes -= oldest.size;
            self.floor = oldest.seq;
            if oldest.size == self.largest {
                let sizes = self.events.iter().map(|event| event.size);
                self.largest = sizes.filter(|size| *size > LARGE).max().unwrap_or(0);
            }
        }
    }

    fn after(&self, cursor: u64, max_bytes: usize) -> Near {
        if cursor < self.floor {
            return Near::Far(self.floor);
        }
        let start = self.events.partition_point(|event| event.seq <= cursor);
        let mut bytes = 0;
        let fits = self.events.range(start..).take_while(|event| {
            let first = bytes == 0;
            bytes += event.size;
            first || bytes <= max_bytes
        });
        Near::Events(fits.cloned().collect())
    }
}

/// A reader of one session's log. It keeps the session awake.
pub struct Subscription {
    session: Arc<Session>,
    head: watch::Receiver<Head>,
    cursor: u64,
    /// Whether it once was at the live end; from then on falling out of memory means it is slow.
    live: bool,
}

impl Subscription {
    pub(crate) fn new(session: Arc<Session>, after: u64) -> Self {
        let head = session.log().head.subscribe();
        Self {
            session,
            head,
            cursor: after,
            live: false,
        }
    }

    /// The number after which the next event comes.
    #[must_use]
    pub fn after(&self) -> u64 {
        self.cursor
    }

    /// Whether there are events that were not read yet.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.cursor < self.head.borrow().seq
    }

    /// The next events, at least one, together at most `max_bytes` unless one alone is larger; or why there are none.
    ///
    /// Dropping the future loses nothing.
    pub async fn next(
        &mut self,
        max_bytes: usize,
    ) -> Result<std::result::Result<Vec<Arc<Logged>>, Ended>> {
        loop {
            let head = *self.head.borrow_and_update();
            if self.cursor < head.seq {
                let near = self.session.log().ring.lock().after(self.cursor, max_bytes);
                let events = match near {
                    Near::Events(events) => {
                        self.live = true;
                        events
                    }
                    Near::Far(_) if self.live => return Ok(Err(Ended::Slow)),
                    Near::Far(floor) => {
                        let page = self
                            .session
                            .store()
                            .read(self.session.id(), self.cursor, max_bytes)
                            .await?;
                        if page.events.is_empty() {
                            // All that lay between were deltas whose message was dropped with them.
                            self.cursor = floor;
                        }
                        page.events
                    }
                };
                if let Some(last) = events.last() {
                    self.cursor = last.seq;
                    return Ok(Ok(events));
                }
            } else if let Some(why) = head.ended {
                return Ok(Err(why));
            } else if self.head.changed().await.is_err() {
                return Ok(Err(Ended::Stopping));
            }
        }
    }
}
