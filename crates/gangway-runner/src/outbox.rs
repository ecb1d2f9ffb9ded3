//! What a runner said and its server has not heard yet: numbered, kept in order, bounded.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::wire::{FromRunner, What};

/// Bytes that are kept at the most; whoever wants to say more waits until something was heard.
pub const OUTBOX_BYTES: usize = 16 << 20;

/// Pieces of an answer that nobody took yet become one line, up to this length.
const JOINED_BYTES: usize = 32 << 10;

/// What a line costs beside its text.
const LINE_COST: usize = 64;

/// The lines that are kept.
pub struct Outbox {
    lines: Mutex<Lines>,
    most: usize,
    room: Notify,
    news: Notify,
}

#[derive(Default)]
struct Lines {
    kept: VecDeque<Kept>,
    /// The number of the newest line.
    last: u64,
    /// The newest line that ever left: it may be on the server's disk, so it stays as it is.
    sent: u64,
    bytes: usize,
}

struct Kept {
    n: u64,
    turn: u64,
    what: What,
    bytes: usize,
}

impl Outbox {
    /// Nothing yet, and room for so many bytes.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            lines: Mutex::default(),
            most,
            room: Notify::new(),
            news: Notify::new(),
        }
    }

    /// Keeps a line until it was heard; waits while there is no room.
    pub async fn say(&self, turn: u64, what: What) {
        let bytes = serde_json::to_vec(&what).map_or(0, |json| json.len()) + LINE_COST;
        let mut what = Some(what);
        loop {
            let room = self.room.notified();
            tokio::pin!(room);
            room.as_mut().enable();
            {
                let mut lines = self.lines.lock();
                if lines.bytes == 0 || lines.bytes + bytes <= self.most {
                    if let Some(what) = what.take() {
                        lines.add(turn, what, bytes);
                    }
                    break;
                }
            }
            room.await;
        }
        self.news.notify_one();
    }

    /// The line after this number, if there is one. From now on it counts as said.
    pub(super) fn after(&self, n: u64) -> Option<(u64, FromRunner)> {
        let mut lines = self.lines.lock();
        let first = lines.kept.front()?.n;
        let at = usize::try_from((n + 1).saturating_sub(first)).ok()?;
        let kept = lines.kept.get(at)?;
        let said = FromRunner::Said {
            n: kept.n,
            turn: kept.turn,
            what: kept.what.clone(),
        };
        let n = kept.n;
        lines.sent = lines.sent.max(n);
        Some((n, said))
    }

    /// Forgets what the server has, and counts on from there.
    pub fn heard(&self, n: u64) {
        {
            let mut lines = self.lines.lock();
            while lines.kept.front().is_some_and(|line| line.n <= n) {
                let gone = lines.kept.pop_front();
                lines.bytes -= gone.map_or(0, |line| line.bytes);
            }
            lines.last = lines.last.max(n);
            lines.sent = lines.sent.max(n);
        }
        self.room.notify_waiters();
    }

    /// Waits for a line; it may have come before.
    pub(super) async fn news(&self) {
        self.news.notified().await;
    }

    /// Whether all was heard.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.lock().kept.is_empty()
    }
}

impl Lines {
    fn add(&mut self, turn: u64, what: What, bytes: usize) {
        let sent = self.sent;
        let open = self.kept.back_mut().filter(|line| line.n > sent);
        if let (Some(line), What::Delta { text: more }) = (open, &what)
            && line.turn == turn
            && let What::Delta { text } = &mut line.what
            && text.len() + more.len() <= JOINED_BYTES
        {
            text.push_str(more);
            let added = bytes - LINE_COST;
            line.bytes += added;
            self.bytes += added;
            return;
        }
        self.last += 1;
        self.bytes += bytes;
        let n = self.last;
        self.kept.push_back(Kept {
            n,
            turn,
            what,
            bytes,
        });
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use super::*;

    fn delta(text: &str) -> What {
        What::Delta { text: text.into() }
    }

    fn texts(outbox: &Outbox, mut after: u64) -> Vec<(u64, String)> {
        let mut found = Vec::new();
        while let Some((n, FromRunner::Said { what, .. })) = outbox.after(after) {
            after = n;
            match what {
                What::Delta { text } => found.push((n, text)),
                other => found.push((n, format!("{other:?}"))),
            }
        }
        found
    }

    #[tokio::test]
    async fn pieces_that_nobody_took_become_one_and_those_that_left_stay_as_they_are() {
        let outbox = Outbox::new(1 << 20);
        outbox.say(1, delta("a")).await;
        outbox.say(1, delta("b")).await;
        assert_eq!(texts(&outbox, 0), [(1, "ab".to_owned())]);
        outbox.say(1, delta("c")).await;
        outbox.say(1, delta("d")).await;
        outbox.say(2, delta("e")).await;
        let kept = [
            (1, "ab".to_owned()),
            (2, "cd".to_owned()),
            (3, "e".to_owned()),
        ];
        assert_eq!(texts(&outbox, 0), kept);
        outbox.heard(2);
        assert_eq!(texts(&outbox, 2), kept[2..]);
        outbox.heard(3);
        assert!(outbox.is_empty());
    }

    #[tokio::test]
    async fn numbers_go_on_where_the_server_is() {
        let outbox = Outbox::new(1 << 20);
        outbox.heard(7);
        outbox.say(1, What::Taken).await;
        assert_eq!(outbox.after(7).map(|(n, _)| n), Some(8));
    }

    #[tokio::test(start_paused = true)]
    async fn who_says_too_much_waits_until_something_was_heard() {
        let outbox = Arc::new(Outbox::new(1000));
        outbox.say(1, delta(&"x".repeat(600))).await;
        let more = tokio::spawn({
            let outbox = Arc::clone(&outbox);
            async move { outbox.say(1, delta(&"y".repeat(600))).await }
        });
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert!(!more.is_finished());
        assert_eq!(texts(&outbox, 0).len(), 1);
        outbox.heard(1);
        more.await.unwrap();
        assert_eq!(texts(&outbox, 1).len(), 1);
    }

    #[tokio::test]
    async fn one_line_that_is_larger_than_all_room_goes_alone() {
        let outbox = Outbox::new(100);
        outbox.say(1, delta(&"x".repeat(600))).await;
        assert_eq!(texts(&outbox, 0).len(), 1);
    }
}
