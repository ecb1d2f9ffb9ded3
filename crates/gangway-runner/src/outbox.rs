//! Messages of a runner that its server has not acknowledged yet.

use super::wire::{FromRunner, TurnEvent};

/// The capacity in bytes; senders wait while it is full.
pub const OUTBOX_BYTES: usize = 16 << 20;

/// Unsent deltas are joined up to this length.
const JOINED_BYTES: usize = 32 << 10;

pub struct Outbox {
    lines: gangway_core::Outbox<OutboxEntry>,
    most: usize,
}

#[derive(Clone)]
struct OutboxEntry {
    turn: u64,
    what: TurnEvent,
}

impl Outbox {
    /// With a capacity in bytes.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            lines: gangway_core::Outbox::default(),
            most,
        }
    }

    /// Keeps a message until it is acknowledged; waits while there is no room.
    pub async fn push(&self, turn: u64, what: TurnEvent) {
        let bytes = serde_json::to_vec(&what).map_or(0, |json| json.len());
        let line = OutboxEntry { turn, what };
        self.lines.push_within(self.most, line, bytes, join).await;
    }

    /// The message after this number.
    pub(super) fn after(&self, n: u64) -> Option<(u64, FromRunner)> {
        let (n, OutboxEntry { turn, what }) = self.lines.next(n)?;
        Some((n, FromRunner::Said { n, turn, what }))
    }

    /// Drops acknowledged messages, and continues counting from there.
    pub fn acknowledge(&self, n: u64) {
        self.lines.resume_after(n);
    }

    /// Waits for a message after this number.
    pub(super) async fn more(&self, n: u64) {
        self.lines.more(n).await;
    }

    /// Whether everything is acknowledged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.backlog().messages == 0
    }
}

/// Appends a delta to the one before it.
fn join(before: &mut OutboxEntry, line: &OutboxEntry) -> bool {
    match (&mut before.what, &line.what) {
        (TurnEvent::Delta { text }, TurnEvent::Delta { text: more })
            if before.turn == line.turn && text.len() + more.len() <= JOINED_BYTES =>
        {
            text.push_str(more);
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(text: &str) -> TurnEvent {
        TurnEvent::Delta { text: text.into() }
    }

    fn texts(outbox: &Outbox) -> Vec<String> {
        let mut found = Vec::new();
        let mut after = 0;
        while let Some((n, FromRunner::Said { what, .. })) = outbox.after(after) {
            after = n;
            match what {
                TurnEvent::Delta { text } => found.push(text),
                other => found.push(format!("{other:?}")),
            }
        }
        found
    }

    #[tokio::test]
    async fn pieces_of_one_turn_become_one_line_up_to_a_length() {
        let outbox = Outbox::new(1 << 20);
        let long = "x".repeat(JOINED_BYTES - 1);
        for (turn, what) in [
            (1, delta("a")),
            (1, delta("b")),
            (2, delta("c")),
            (2, TurnEvent::Taken),
            (2, delta("d")),
            (2, delta(&long)),
            (2, delta("e")),
        ] {
            outbox.push(turn, what).await;
        }
        let full = format!("d{long}");
        assert_eq!(texts(&outbox), ["ab", "c", "Taken", &full, "e"]);
        outbox.acknowledge(4);
        assert!(!outbox.is_empty());
        outbox.acknowledge(5);
        assert!(outbox.is_empty());
    }

    #[tokio::test]
    async fn numbers_continue_where_the_server_is() {
        let outbox = Outbox::new(1 << 20);
        outbox.acknowledge(7);
        outbox.push(1, TurnEvent::Taken).await;
        assert_eq!(outbox.after(7).map(|(n, _)| n), Some(8));
    }
}
