//! Reading the log of a study session, line by line.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;
use utoipa::ToSchema;

use super::Direction;

/// A longer line was not written by us: no message of the relay is as large.
const LONGEST_LINE: usize = 65 << 20;

/// Events of one page.
pub const MOST_EVENTS: usize = 1000;

/// Bytes of one page, beside one event of any size.
const PAGE_BYTES: usize = 4 << 20;

/// One line of a study log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct StudyEvent {
    /// The study session.
    pub session_id: String,
    /// Counts up from 1 without gaps.
    #[ts(type = "number")]
    pub event_index: u64,
    /// When.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub timestamp: Timestamp,
    /// `in` to the page, `out` from the page, `internal` by the relay.
    pub direction: Direction,
    /// The type of the message.
    pub r#type: String,
    /// The name of a question to the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub id: Option<String>,
    /// The question that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reply_to: Option<String>,
    /// The agent that said it, where it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub agent: Option<String>,
    /// What it said.
    #[ts(type = "{ [key: string]: JsonValue }")]
    #[schema(value_type = Object)]
    pub payload: Map<String, Value>,
}

/// Events of a study log, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, TS)]
pub struct StudyEvents {
    /// The events.
    pub events: Vec<StudyEvent>,
    /// Whether there are more after them.
    pub more: bool,
}

/// Why a log could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// There is none.
    #[error("the log of this study session is gone from the data folder")]
    Missing,
    /// The disk.
    #[error("the log of this study session cannot be read: {0}")]
    Io(io::Error),
    /// A line that is not one of ours.
    #[error(
        "line {line} of the log of this study session is damaged: {reason}; the log as it is can still be exported as jsonl, and read on after={line}"
    )]
    Damaged {
        /// Counted from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
}

impl From<io::Error> for LogError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            _ => Self::Io(error),
        }
    }
}

/// The lines of a log, one after the other; the last one may still be on its way, and is left out then.
pub struct Lines {
    reader: BufReader<File>,
    line: Vec<u8>,
    number: u64,
}

/// What came of looking for the end of a line.
enum Found {
    Line,
    TooLong,
    End,
}

impl Lines {
    /// From the beginning of a file.
    pub fn open(path: &Path) -> Result<Self, LogError> {
        Ok(Self {
            reader: BufReader::with_capacity(64 << 10, File::open(path)?),
            line: Vec::new(),
            number: 0,
        })
    }

    /// Passes over the first lines without reading what they say. Each line is an event, so this is by `eventIndex`.
    pub fn skip_to_after(&mut self, last: u64) -> Result<(), LogError> {
        while self.number < last {
            match self.seek_end(false)? {
                Found::Line | Found::TooLong => self.number += 1,
                Found::End => break,
            }
        }
        Ok(())
    }

    /// Some events, up to the bounds of a page. Where a damaged line follows, what is before it is given first.
    pub fn page(mut self, after: u64, limit: usize) -> Result<StudyEvents, LogError> {
        self.skip_to_after(after)?;
        let mut events = Vec::new();
        let mut bytes = 0;
        loop {
            match self.next() {
                None => {
                    return Ok(StudyEvents {
                        events,
                        more: false,
                    });
                }
                Some(Err(error)) if events.is_empty() => return Err(error),
                Some(Err(_)) => break,
                Some(Ok(_)) if events.len() >= limit.clamp(1, MOST_EVENTS) => break,
                Some(Ok(event)) => {
                    bytes += self.line.len();
                    if bytes > PAGE_BYTES && !events.is_empty() {
                        break;
                    }
                    events.push(event);
                }
            }
        }
        Ok(StudyEvents { events, more: true })
    }

    /// Goes behind the next line, keeping it if it is wanted.
    fn seek_end(&mut self, kept: bool) -> io::Result<Found> {
        self.line.clear();
        let mut length = 0;
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok(Found::End);
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let part = &buffer[..end.unwrap_or(buffer.len())];
            length += part.len();
            if kept && length <= LONGEST_LINE {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                return Ok(match length <= LONGEST_LINE {
                    true => Found::Line,
                    false => Found::TooLong,
                });
            }
        }
    }
}

impl Iterator for Lines {
    type Item = Result<StudyEvent, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = match self.seek_end(true) {
            Ok(found) => found,
            Err(error) => return Some(Err(error.into())),
        };
        self.number += 1;
        let line = self.number;
        let damaged = |reason: String| Some(Err(LogError::Damaged { line, reason }));
        match found {
            Found::End => None,
            Found::TooLong => damaged("it is longer than any message".into()),
            Found::Line => match serde_json::from_slice(&self.line) {
                Ok(event) => Some(Ok(event)),
                Err(error) => damaged(error.to_string()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(lines: &[&str]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), lines.concat()).unwrap();
        file
    }

    fn line(index: u64, bytes: usize) -> String {
        let text = "x".repeat(bytes);
        format!(
            r#"{{"sessionId":"s-20260213-001","eventIndex":{index},"timestamp":"2026-02-13T10:22:17.123Z","direction":"in","type":"agent.message","payload":{{"text":"{text}"}}}}"#
        ) + "\n"
    }

    fn indexes(page: &StudyEvents) -> Vec<u64> {
        page.events.iter().map(|event| event.event_index).collect()
    }

    #[test]
    fn a_page_begins_after_a_number_and_says_whether_more_follows() {
        let lines: Vec<_> = (1..=5).map(|index| line(index, 1)).collect();
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        let file = log(&lines);
        let page = |after, limit| Lines::open(file.path()).unwrap().page(after, limit);
        let first = page(0, 2).unwrap();
        assert_eq!((indexes(&first), first.more), (vec![1, 2], true));
        let last = page(2, 1000).unwrap();
        assert_eq!((indexes(&last), last.more), (vec![3, 4, 5], false));
        let none = page(99, 1000).unwrap();
        assert_eq!((indexes(&none), none.more), (vec![], false));
    }

    #[test]
    fn a_page_has_some_megabytes_at_the_most_but_always_an_event() {
        let large: Vec<_> = (1..=3).map(|index| line(index, PAGE_BYTES)).collect();
        let large: Vec<_> = large.iter().map(String::as_str).collect();
        let file = log(&large);
        let page = Lines::open(file.path()).unwrap().page(1, 1000).unwrap();
        assert_eq!((indexes(&page), page.more), (vec![2], true));
    }

    #[test]
    fn a_damaged_line_is_named_and_can_be_passed_over_and_a_torn_end_is_left_out() {
        let (one, three) = (line(1, 1), line(3, 1));
        let file = log(&[&one, "{\"half\u{0}\n", &three, "{\"sessionId"]);
        let page = |after| Lines::open(file.path()).unwrap().page(after, 10);
        let first = page(0).unwrap();
        assert_eq!((indexes(&first), first.more), (vec![1], true));
        let error = page(1).unwrap_err();
        assert!(matches!(error, LogError::Damaged { line: 2, .. }));
        assert!(error.to_string().contains("line 2"), "{error}");
        let rest = page(2).unwrap();
        assert_eq!((indexes(&rest), rest.more), (vec![3], false));
        let missing = Lines::open(Path::new("/nowhere/at/all")).err();
        assert!(matches!(missing, Some(LogError::Missing)));
    }
}
