//! The newest messages of a relay session, for clients that reconnect.

use std::collections::VecDeque;

use axum::extract::ws::Utf8Bytes;

/// Limits in messages and bytes.
const MESSAGES: usize = 1000;
const BYTES: usize = 2 << 20;

/// The recipient of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recipient {
    /// The page: a request by its number, or a message without an answer.
    Host(Option<u64>),
    Agents,
    /// All agents except this `clientId`, which got another message.
    AllBut(String),
    /// The agent with this `clientId`; without one it can never resume.
    Agent(Option<String>),
}

#[derive(Default)]
pub struct Ring {
    stored: VecDeque<(u64, Recipient, Utf8Bytes)>,
    bytes: usize,
    /// Number of the last message that was dropped.
    gone: u64,
}

impl Ring {
    /// Empty; messages up to this number are gone.
    pub fn after_number(seq: u64) -> Self {
        Self {
            gone: seq,
            ..Self::default()
        }
    }

    /// Adds a message and drops the oldest.
    pub fn push(&mut self, seq: u64, recipient: Recipient, text: Utf8Bytes) {
        self.bytes += text.len();
        self.stored.push_back((seq, recipient, text));
        while self.stored.len() > MESSAGES || self.bytes > BYTES {
            let Some((seq, _, text)) = self.stored.pop_front() else {
                return;
            };
            self.bytes -= text.len();
            self.gone = seq;
        }
    }

    /// A recipient's messages after a number, or `None` if there is a gap.
    pub fn after(
        &self,
        since: u64,
        last: u64,
        mine: impl Fn(&Recipient) -> bool,
    ) -> Option<Vec<Utf8Bytes>> {
        if since < self.gone || since > last {
            return None;
        }
        let later = self
            .stored
            .iter()
            .filter(|(seq, recipient, _)| *seq > since && mine(recipient));
        Some(later.map(|(_, _, text)| text.clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_reconnects_gets_missed_messages_or_a_resync() {
        let mut ring = Ring::default();
        for seq in 1..=1100 {
            let recipient = match seq % 3 {
                0 => Recipient::Host(None),
                1 => Recipient::Agents,
                _ => Recipient::Agent(Some("a".into())),
            };
            ring.push(seq, recipient, seq.to_string().into());
        }
        let mine = |recipient: &Recipient| {
            *recipient == Recipient::Agents || *recipient == Recipient::Agent(Some("a".into()))
        };
        let later = ring.after(1095, 1100, mine).unwrap();
        let later: Vec<_> = later.iter().map(Utf8Bytes::as_str).collect();
        assert_eq!(later, ["1096", "1097", "1099", "1100"]);
        assert!(ring.after(99, 1100, mine).is_none());
        assert!(ring.after(100, 1100, mine).is_some());
        assert!(ring.after(1101, 1100, mine).is_none());
    }
}
