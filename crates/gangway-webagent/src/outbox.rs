//! What is said to a page: numbered, and kept until the page has it, so that a lost connection loses nothing.

use std::collections::VecDeque;

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;

/// Bytes that wait for a page before whoever streams to it waits too.
const ROOM: usize = 1 << 20;

/// Whoever does not take this much, or so many messages, takes nothing.
const MOST: usize = 16 << 20;
const MOST_MESSAGES: usize = 20_000;

/// Messages to one page.
pub struct Outbox {
    kept: Mutex<Kept>,
    last: watch::Sender<u64>,
    waiting: watch::Sender<usize>,
}

#[derive(Default)]
struct Kept {
    last: u64,
    bytes: usize,
    messages: VecDeque<(u64, Bytes)>,
}

impl Default for Outbox {
    fn default() -> Self {
        Self {
            kept: Mutex::default(),
            last: watch::Sender::new(0),
            waiting: watch::Sender::new(0),
        }
    }
}

impl Outbox {
    /// Says something; `message` is given its number. False when the page takes so little that it is given up.
    pub fn push(&self, message: impl FnOnce(u64) -> Bytes) -> bool {
        let mut kept = self.lock();
        kept.last += 1;
        let (number, message) = (kept.last, message(kept.last));
        kept.bytes += message.len();
        kept.messages.push_back((number, message));
        self.waiting.send_replace(kept.bytes);
        self.last.send_replace(number);
        kept.bytes <= MOST && kept.messages.len() <= MOST_MESSAGES
    }

    /// Waits until there is room for more of a stream.
    pub async fn room(&self) {
        let mut waiting = self.waiting.subscribe();
        // The sender lives as long as this does.
        let _ = waiting.wait_for(|bytes| *bytes < ROOM).await;
    }

    /// The page has everything up to this number.
    pub fn acknowledge(&self, number: u64) {
        let mut kept = self.lock();
        while kept.messages.front().is_some_and(|(n, _)| *n <= number) {
            if let Some((_, message)) = kept.messages.pop_front() {
                kept.bytes -= message.len();
            }
        }
        self.waiting.send_replace(kept.bytes);
    }

    /// What follows a number, with the number of its last; none when something in between is no longer kept.
    pub fn after(&self, number: u64) -> Option<(Vec<Bytes>, u64)> {
        let kept = self.lock();
        let first = kept.messages.front().map_or(kept.last + 1, |(n, _)| *n);
        if number.saturating_add(1) < first || number > kept.last {
            return None;
        }
        let new = kept.messages.iter().filter(|(n, _)| *n > number);
        Some((new.map(|(_, message)| message.clone()).collect(), kept.last))
    }

    /// Waits until something was said after this number.
    pub async fn more(&self, number: u64) {
        let mut last = self.last.subscribe();
        let _ = last.wait_for(|last| *last > number).await;
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn said(outbox: &Outbox, text: &str) -> bool {
        outbox.push(|n| format!("{n} {text}").into())
    }

    #[test]
    fn a_page_that_takes_nothing_is_given_up() {
        let outbox = Outbox::default();
        let taken = (0..100_000).take_while(|_| said(&outbox, "x")).count();
        assert_eq!(taken, MOST_MESSAGES);
        assert_eq!(outbox.after(u64::MAX), None);
    }

    #[test]
    fn what_a_page_has_is_forgotten_and_the_rest_can_be_had_again() {
        let outbox = Outbox::default();
        for text in ["a", "b", "c"] {
            said(&outbox, text);
        }
        outbox.acknowledge(1);
        assert_eq!(outbox.after(1), Some((vec!["2 b".into(), "3 c".into()], 3)));
        assert_eq!(outbox.after(3), Some((vec![], 3)));
        assert_eq!(outbox.after(0), None);
        assert_eq!(outbox.after(4), None);
    }

    #[test]
    fn whoever_streams_waits_for_a_page_that_does_not_keep_up() {
        let outbox = Outbox::default();
        said(&outbox, &"x".repeat(ROOM));
        assert_eq!(outbox.room().now_or_never(), None);
        outbox.acknowledge(1);
        assert_eq!(outbox.room().now_or_never(), Some(()));
    }
}
