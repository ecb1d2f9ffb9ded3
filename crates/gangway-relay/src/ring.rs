//! The newest messages of a relay session, for clients that reconnect.

use std::collections::VecDeque;

use axum::extract::ws::Utf8Bytes;

/// Limits in messages and bytes.
const MESSAGES: usize = 1000;
const BYTES: usize = 2 << 20;

/// The recipient of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum For {
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
    kept: VecDeque<(u64, For, Utf8Bytes)>,
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
    pub fn push(&mut self, seq: u64, whom: For, text: Utf8Bytes) {
        self.bytes += text.len();
        self.kept.push_back((seq, whom, text));
        while self.kept.len() > MESSAGES || self.bytes > BYTES {
            let Some((seq, _, text)) = self.kept.pop_front() else {
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
        mine: impl Fn(&For) -> bool,
    ) -> Option<Vec<Utf8Bytes>> {
        if since < self.gone || since > last {
            return None;
        }
        let later = self
            .kept
            .iter()
            .filter(|(seq, whom, _)| *seq > since && mine(whom));
        Some(later.map(|(_, _, text)| text.clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_comes_back_gets_what_was_for_it_or_is_told_that_some_is_gone() {
        let mut ring = Ring::default();
        for seq in 1..=1100 {
            let whom = match seq % 3 {
                0 => For::Host(None),
                1 => For::Agents,
                _ => For::Agent(Some("a".into())),
            };
            ring.push(seq, whom, seq.to_string().into());
        }
        let mine = |whom: &For| *whom == For::Agents || *whom == For::Agent(Some("a".into()));
        let later = ring.after(1095, 1100, mine).unwrap();
        let later: Vec<_> = later.iter().map(Utf8Bytes::as_str).collect();
        assert_eq!(later, ["1096", "1097", "1099", "1100"]);
        assert!(ring.after(99, 1100, mine).is_none());
        assert!(ring.after(100, 1100, mine).is_some());
        assert!(ring.after(1101, 1100, mine).is_none());
    }
}
