//! The newest messages of a relay session, for those whose connection broke.

use std::collections::VecDeque;

use axum::extract::ws::Utf8Bytes;

/// Messages and bytes that are kept.
const MESSAGES: usize = 1000;
const BYTES: usize = 2 << 20;

/// For whom a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum For {
    /// The page: a question by its number, or something that nobody waits for.
    Host(Option<u64>),
    /// Every agent.
    Agents,
    /// Every agent but the one that calls itself so, which was told otherwise.
    AllBut(String),
    /// The agent that calls itself so, or one that gave itself no name and can never ask again.
    Agent(Option<String>),
}

/// The newest messages, by number.
#[derive(Default)]
pub struct Ring {
    kept: VecDeque<(u64, For, Utf8Bytes)>,
    bytes: usize,
    /// The number of the last message that is gone.
    gone: u64,
}

impl Ring {
    /// Empty, where what came up to this number is gone.
    pub fn after_number(seq: u64) -> Self {
        Self {
            gone: seq,
            ..Self::default()
        }
    }

    /// Keeps a message; the oldest go.
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

    /// What came after a number for somebody, or nothing where a part of it is gone.
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
