//! The live end of a session's log: the newest events in memory, and readers that pull from it at their own speed.
//!
//! A reader is a number. Events near the end come from memory, older ones from the store, so there are no per-reader
//! queues, and a slow reader costs the others nothing.

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

/// Events and bytes that a live session keeps in memory: how far a reader may lag before it must resume.
const RING_EVENTS: usize = 4096;
const RING_BYTES: usize = 1 << 20;

/// The largest event above this size is exempt, or one long message would evict what readers are about to read.
const LARGE: usize = 64 << 10;

/// Why a subscription ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubscriptionEnd {
    /// The reader was too slow; it can resume after the last number it received.
    Slow,
    /// The session was deleted.
    Deleted,
    /// The server is stopping.
    Stopping,
    /// The store accepts no more writes.
    Failed,
    /// The next stored event is damaged.
    Damaged,
}

impl From<&Error> for SubscriptionEnd {
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
    ended: Option<SubscriptionEnd>,
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
    /// The size of the largest event if it is above `LARGE`, else 0.
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

    /// Starts the ring after the stored events.
    pub(crate) fn begin_after(&self, seq: u64) {
        self.ring.lock().floor = seq;
        self.head.send_modify(|head| head.seq = seq);
    }

    /// Publishes stored events; only the store's writer calls it, in commit order.
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

    /// Ends every subscription with this reason, after the events that are already there.
    pub(crate) fn end(&self, why: SubscriptionEnd) {
        self.head.send_modify(|head| head.ended = Some(why));
    }

    /// The number of the newest event.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.head.borrow().seq
    }
}

/// What memory holds for a reader.
enum InMemory {
    Events(Vec<Arc<Logged>>),
    /// The reader's next event is no longer in memory; everything up to this number is in the store.
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

    fn after(&self, cursor: u64, max_bytes: usize) -> InMemory {
        if cursor < self.floor {
            return InMemory::Far(self.floor);
        }
        let start = self.events.partition_point(|event| event.seq <= cursor);
        let mut bytes = 0;
        let fits = self.events.range(start..).take_while(|event| {
            let first = bytes == 0;
            bytes += event.size;
            first || bytes <= max_bytes
        });
        InMemory::Events(fits.cloned().collect())
    }
}

/// A reader of one session's log. It keeps the session in memory.
pub struct Subscription {
    session: Arc<Session>,
    head: watch::Receiver<Head>,
    cursor: u64,
    /// Whether it has reached the live end; from then on, falling out of memory means it is slow.
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

    /// The number after which it reads next.
    #[must_use]
    pub fn after(&self) -> u64 {
        self.cursor
    }

    /// Whether there are unread events.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.cursor < self.head.borrow().seq
    }

    /// The next events: at least one, in total at most `max_bytes` unless one is larger; or why there are none.
    ///
    /// Cancel-safe: dropping the future loses nothing.
    pub async fn next(
        &mut self,
        max_bytes: usize,
    ) -> Result<std::result::Result<Vec<Arc<Logged>>, SubscriptionEnd>> {
        loop {
            let head = *self.head.borrow_and_update();
            if self.cursor < head.seq {
                let near = self.session.log().ring.lock().after(self.cursor, max_bytes);
                let events = match near {
                    InMemory::Events(events) => {
                        self.live = true;
                        events
                    }
                    InMemory::Far(_) if self.live => return Ok(Err(SubscriptionEnd::Slow)),
                    InMemory::Far(floor) => {
                        let page = self
                            .session
                            .store()
                            .read(self.session.id(), self.cursor, max_bytes)
                            .await?;
                        if page.events.is_empty() {
                            // All events in between were deltas that were dropped with their message.
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
                return Ok(Err(SubscriptionEnd::Stopping));
            }
        }
    }
}
