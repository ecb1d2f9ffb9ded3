//! A queue of numbered messages to one reader, kept until acknowledged so that a lost connection loses nothing.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::watch;

/// Overhead per message, so that many small ones are bounded too.
const MESSAGE_COST: usize = 64;

/// A bounded queue of messages. Numbers begin at 1.
pub struct Outbox<T> {
    queue: Mutex<Queue<T>>,
    backlog: watch::Sender<Backlog>,
}

/// The unacknowledged messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// The number of the newest message.
    pub last: u64,
    /// The number of messages.
    pub messages: usize,
    /// Their size, including the overhead.
    pub bytes: usize,
}

struct Queue<T> {
    waiting: VecDeque<QueuedItem<T>>,
    backlog: Backlog,
    /// The newest message that was ever read: the reader may have it, so it must not change.
    taken: u64,
}

struct QueuedItem<T> {
    number: u64,
    message: T,
    bytes: usize,
}

impl<T> Default for Outbox<T> {
    fn default() -> Self {
        let queue = Queue {
            waiting: VecDeque::new(),
            backlog: Backlog::default(),
            taken: 0,
        };
        Self {
            queue: Mutex::new(queue),
            backlog: watch::Sender::new(Backlog::default()),
        }
    }
}

impl<T: Clone> Outbox<T> {
    /// Adds a message immediately; `make` gets its number and returns it with its size. The caller must drop a reader
    /// whose backlog is too large.
    pub fn push(&self, make: impl FnOnce(u64) -> (T, usize)) -> Backlog {
        let mut queue = self.queue.lock();
        let (message, bytes) = make(queue.backlog.last + 1);
        queue.push(message, bytes);
        self.publish(&queue)
    }

    /// Adds a message once it fits within `limit` bytes of backlog, or the backlog is empty. `join` may merge it into
    /// an unread message, and returns whether it did.
    pub async fn push_within(
        &self,
        limit: usize,
        message: T,
        bytes: usize,
        join: impl Fn(&mut T, &T) -> bool,
    ) {
        let mut backlog = self.backlog.subscribe();
        loop {
            {
                let mut queue = self.queue.lock();
                let waiting = queue.backlog.bytes;
                if waiting == 0 || waiting + bytes + MESSAGE_COST <= limit {
                    if !queue.join(&message, bytes, join) {
                        queue.push(message, bytes);
                    }
                    self.publish(&queue);
                    return;
                }
            }
            // The sender is a field of `self`.
            let _ = backlog.changed().await;
        }
    }

    /// Waits until the backlog is below `limit` bytes.
    pub async fn room(&self, limit: usize) {
        let mut backlog = self.backlog.subscribe();
        let _ = backlog.wait_for(|backlog| backlog.bytes < limit).await;
    }

    /// Waits until [`next`](Self::next) returns a message after this number.
    pub async fn more(&self, number: u64) {
        let mut backlog = self.backlog.subscribe();
        let is_there = |backlog: &Backlog| backlog.messages > 0 && backlog.last > number;
        let _ = backlog.wait_for(is_there).await;
    }

    /// The first retained message after this number.
    pub fn next(&self, number: u64) -> Option<(u64, T)> {
        let mut queue = self.queue.lock();
        let found = queue.waiting.get(queue.place_after(number))?;
        let found = (found.number, found.message.clone());
        queue.taken = queue.taken.max(found.0);
        Some(found)
    }

    /// All messages after this number and the number of the newest; `None` if one of them was dropped, or this number
    /// was never assigned.
    pub fn after(&self, number: u64) -> Option<(Vec<T>, u64)> {
        let mut queue = self.queue.lock();
        let last = queue.backlog.last;
        let first = queue.waiting.front().map_or(last + 1, |one| one.number);
        if number.saturating_add(1) < first || number > last {
            return None;
        }
        queue.taken = last;
        let new = queue.waiting.iter().skip(queue.place_after(number));
        Some((new.map(|one| one.message.clone()).collect(), last))
    }

    /// Acknowledges the messages up to this number, and drops them.
    pub fn acknowledge(&self, number: u64) {
        let mut queue = self.queue.lock();
        queue.acknowledge(number);
        self.publish(&queue);
    }

    /// Acknowledges up to this number, and numbers the next message after it: the reader has seen more than this outbox
    /// knows.
    pub fn resume_after(&self, number: u64) {
        let mut queue = self.queue.lock();
        queue.acknowledge(number);
        queue.backlog.last = queue.backlog.last.max(number);
        queue.taken = queue.taken.max(number);
        self.publish(&queue);
    }

    /// The current backlog.
    pub fn backlog(&self) -> Backlog {
        *self.backlog.borrow()
    }

    /// In the order of the changes, since the queue is locked.
    fn publish(&self, queue: &Queue<T>) -> Backlog {
        let backlog = Backlog {
            messages: queue.waiting.len(),
            ..queue.backlog
        };
        self.backlog.send_replace(backlog);
        backlog
    }
}

impl<T> Queue<T> {
    /// Index of the first message after this number: numbers have no gaps.
    fn place_after(&self, number: u64) -> usize {
        let first = self.waiting.front().map_or(0, |one| one.number);
        usize::try_from(number.saturating_add(1).saturating_sub(first)).unwrap_or(usize::MAX)
    }

    fn acknowledge(&mut self, number: u64) {
        while let Some(one) = self.waiting.front().filter(|one| one.number <= number) {
            self.backlog.bytes -= one.bytes;
            self.waiting.pop_front();
        }
    }

    fn push(&mut self, message: T, bytes: usize) {
        let bytes = bytes + MESSAGE_COST;
        self.backlog.last += 1;
        self.backlog.bytes += bytes;
        let number = self.backlog.last;
        self.waiting.push_back(QueuedItem {
            number,
            message,
            bytes,
        });
    }

    fn join(&mut self, message: &T, bytes: usize, join: impl Fn(&mut T, &T) -> bool) -> bool {
        let taken = self.taken;
        let Some(open) = self.waiting.back_mut().filter(|one| one.number > taken) else {
            return false;
        };
        let joined = join(&mut open.message, message);
        if joined {
            open.bytes += bytes;
            self.backlog.bytes += bytes;
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::FutureExt;

    use super::*;

    const MUCH: usize = 1 << 20;

    fn push(outbox: &Outbox<String>, text: &str) -> Backlog {
        outbox.push(|n| (format!("{n} {text}"), text.len()))
    }

    async fn join(outbox: &Outbox<String>, text: &str) {
        let text = text.to_owned();
        let bytes = text.len();
        let append = |to: &mut String, more: &String| {
            to.push_str(more);
            true
        };
        outbox.push_within(MUCH, text, bytes, append).await;
    }

    fn kept(outbox: &Outbox<String>, mut after: u64) -> Vec<(u64, String)> {
        let mut found = Vec::new();
        while let Some((number, text)) = outbox.next(after) {
            after = number;
            found.push((number, text));
        }
        found
    }

    #[test]
    fn what_the_reader_has_is_forgotten_and_the_rest_can_be_had_again() {
        let outbox = Outbox::default();
        for text in ["a", "b", "c"] {
            push(&outbox, text);
        }
        outbox.acknowledge(1);
        let rest = vec!["2 b".to_owned(), "3 c".to_owned()];
        assert_eq!(outbox.after(1), Some((rest.clone(), 3)));
        assert_eq!(outbox.after(1), Some((rest, 3)));
        assert_eq!(outbox.after(3), Some((vec![], 3)));
        assert_eq!(outbox.after(0), None, "the first is gone");
        assert_eq!(outbox.after(4), None, "there is no fourth");
        assert_eq!(outbox.after(u64::MAX), None);
        assert_eq!(outbox.next(0), Some((2, "2 b".to_owned())));
        assert_eq!(outbox.next(3), None);
    }

    #[test]
    fn the_backlog_counts_what_is_not_acknowledged_and_small_messages_cost_more_than_their_bytes() {
        let outbox = Outbox::default();
        assert_eq!(outbox.backlog(), Backlog::default());
        push(&outbox, "x");
        let two = push(&outbox, "xyz");
        let bytes = 4 + 2 * MESSAGE_COST;
        let (last, messages) = (2, 2);
        assert_eq!(
            two,
            Backlog {
                last,
                messages,
                bytes
            }
        );
        outbox.acknowledge(1);
        let (messages, bytes) = (1, 3 + MESSAGE_COST);
        assert_eq!(
            outbox.backlog(),
            Backlog {
                last,
                messages,
                bytes
            }
        );
        outbox.acknowledge(u64::MAX);
        let empty = Backlog {
            last,
            ..Backlog::default()
        };
        assert_eq!(outbox.backlog(), empty);
        assert_eq!(push(&outbox, "").last, 3);
    }

    #[tokio::test]
    async fn messages_that_were_not_taken_become_one_and_those_that_were_taken_stay_as_they_are() {
        let outbox = Outbox::default();
        join(&outbox, "a").await;
        join(&outbox, "b").await;
        assert_eq!(outbox.backlog().bytes, 2 + MESSAGE_COST);
        assert_eq!(kept(&outbox, 0), [(1, "ab".to_owned())]);
        join(&outbox, "c").await;
        join(&outbox, "d").await;
        assert_eq!(kept(&outbox, 1), [(2, "cd".to_owned())]);
        outbox.acknowledge(2);
        assert_eq!(outbox.backlog().bytes, 0);
        join(&outbox, "e").await;
        outbox.after(2);
        join(&outbox, "f").await;
        let two = [(3, "e".to_owned()), (4, "f".to_owned())];
        assert_eq!(kept(&outbox, 2), two);
    }

    #[tokio::test]
    async fn a_message_that_does_not_join_is_one_of_its_own() {
        let outbox = Outbox::default();
        for text in ["a", "b"] {
            outbox
                .push_within(MUCH, text.to_owned(), 1, |_, _| false)
                .await;
        }
        assert_eq!(outbox.backlog().messages, 2);
    }

    #[test]
    fn numbers_continue_where_the_reader_is() {
        let outbox = Outbox::default();
        push(&outbox, "a");
        outbox.resume_after(7);
        assert_eq!(outbox.backlog().messages, 0);
        assert_eq!(push(&outbox, "b").last, 8);
        outbox.resume_after(3);
        assert_eq!(push(&outbox, "c").last, 9);
        assert_eq!(kept(&outbox, 7).len(), 2);
    }

    #[tokio::test]
    async fn nothing_joins_a_message_of_before_the_reader_came_back() {
        let outbox = Outbox::default();
        join(&outbox, "a").await;
        outbox.resume_after(1);
        join(&outbox, "b").await;
        assert_eq!(kept(&outbox, 1), [(2, "b".to_owned())]);
    }

    #[tokio::test]
    async fn the_writer_waits_until_something_was_acknowledged() {
        let outbox = Arc::new(Outbox::default());
        let limit = 10 + 2 * MESSAGE_COST;
        let add = |bytes| outbox.push_within(limit, bytes, bytes, |_, _| false);
        assert_eq!(add(5).now_or_never(), Some(()));
        assert_eq!(add(5).now_or_never(), Some(()), "as much as fits");
        let mut third = std::pin::pin!(add(0));
        assert_eq!(third.as_mut().now_or_never(), None);
        assert_eq!(outbox.backlog().messages, 2);
        outbox.acknowledge(1);
        third.await;
        assert_eq!(outbox.next(2), Some((3, 0)));
    }

    #[tokio::test]
    async fn one_message_that_is_larger_than_all_room_goes_alone() {
        let outbox = Outbox::default();
        let large = outbox.push_within(10, (), 600, |(), ()| false);
        assert_eq!(large.now_or_never(), Some(()));
        let small = outbox.push_within(10, (), 1, |(), ()| false);
        assert_eq!(small.now_or_never(), None);
    }

    #[tokio::test]
    async fn a_streaming_producer_waits_for_room() {
        let outbox = Outbox::default();
        let bytes = push(&outbox, "a").bytes;
        assert_eq!(outbox.room(bytes).now_or_never(), None);
        assert_eq!(outbox.room(bytes + 1).now_or_never(), Some(()));
        let mut room = std::pin::pin!(outbox.room(bytes));
        assert_eq!(room.as_mut().now_or_never(), None);
        outbox.acknowledge(1);
        room.await;
    }

    #[tokio::test]
    async fn a_reader_is_woken_by_the_next_message_and_by_one_that_is_there() {
        let outbox = Outbox::default();
        push(&outbox, "a");
        assert_eq!(outbox.more(0).now_or_never(), Some(()));
        let mut more = std::pin::pin!(outbox.more(1));
        assert_eq!(more.as_mut().now_or_never(), None);
        push(&outbox, "b");
        more.await;
        outbox.acknowledge(2);
        assert_eq!(outbox.more(0).now_or_never(), None, "all of it is gone");
    }
}
