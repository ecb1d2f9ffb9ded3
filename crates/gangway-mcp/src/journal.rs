//! The log of one server: its standard error, its log messages, and its lifecycle.

use std::collections::VecDeque;

use jiff::Timestamp;
use parking_lot::Mutex;

/// Longer lines are truncated; a stack trace fits, a dump does not.
const MAX_LINE: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Stderr,
    /// The server's standard output, where only messages belong.
    Stdout,
    /// A log message of the protocol.
    Message,
    /// Gangway, about the server.
    Host,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalLine {
    /// Counts up from 1 without gaps.
    pub number: u64,
    pub at: Timestamp,
    pub source: Source,
    pub text: String,
}

/// The last lines of one server.
#[derive(Debug)]
pub(crate) struct Journal {
    lines: Mutex<(u64, VecDeque<JournalLine>)>,
    capacity: usize,
}

impl Journal {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            lines: Mutex::new((0, VecDeque::new())),
            capacity: capacity.max(1),
        }
    }

    pub(crate) fn log(&self, source: Source, text: &str) {
        let mut lines = self.lines.lock();
        lines.0 += 1;
        let line = JournalLine {
            number: lines.0,
            at: Timestamp::now(),
            source,
            text: cut(text.trim_end(), MAX_LINE),
        };
        if lines.1.len() == self.capacity {
            lines.1.pop_front();
        }
        lines.1.push_back(line);
    }

    pub(crate) fn host(&self, text: impl AsRef<str>) {
        self.log(Source::Host, text.as_ref());
    }

    /// The lines after a number.
    pub(crate) fn after(&self, number: u64) -> Vec<JournalLine> {
        let lines = self.lines.lock();
        lines
            .1
            .iter()
            .filter(|line| line.number > number)
            .cloned()
            .collect()
    }
}

/// Truncates a text, with a note of how much is missing.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = boundary(text, most);
    format!("{} … ({} bytes cut)", &text[..end], text.len() - end)
}

/// The last character boundary at or before this position.
pub(crate) fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_keeps_its_last_lines_with_their_numbers() {
        let journal = Journal::new(3);
        for n in 1..=5 {
            journal.log(Source::Stderr, &format!("line {n}\r\n"));
        }
        let stored: Vec<(u64, String)> = journal
            .after(3)
            .into_iter()
            .map(|line| (line.number, line.text))
            .collect();
        assert_eq!(stored, [(4, "line 4".to_owned()), (5, "line 5".to_owned())]);
        assert_eq!(journal.after(0).len(), 3);
        assert!(journal.after(9).is_empty());
    }

    #[test]
    fn a_long_line_is_cut_with_a_mark_between_two_characters() {
        let journal = Journal::new(1);
        journal.log(Source::Stderr, &"é".repeat(MAX_LINE));
        let text = &journal.after(0)[0].text;
        assert!(text.len() < MAX_LINE + 40 && text.ends_with("(4096 bytes cut)"));
    }
}
