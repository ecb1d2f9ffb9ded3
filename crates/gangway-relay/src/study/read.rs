//! Reading the log of a study session.

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

/// Larger than any message of the relay, so such a line is not ours.
const LONGEST_LINE: usize = 65 << 20;

/// Page size in events.
pub const MOST_EVENTS: usize = 1000;

/// Page size in bytes, in addition to one event of any size.
const PAGE_BYTES: usize = 4 << 20;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct StudyEvent {
    pub session_id: String,
    /// Consecutive, from 1.
    #[ts(type = "number")]
    pub event_index: u64,
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub timestamp: Timestamp,
    /// `in` to the page, `out` from the page, `internal` by the relay.
    pub direction: Direction,
    /// The type of the message.
    pub r#type: String,
    /// Id of a request to the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub id: Option<String>,
    /// Id of the request that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reply_to: Option<String>,
    /// The agent that sent it, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub agent: Option<String>,
    #[ts(type = "{ [key: string]: JsonValue }")]
    #[schema(value_type = Object)]
    pub payload: Map<String, Value>,
}

/// Events of a study log, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema, TS)]
pub struct StudyEvents {
    pub events: Vec<StudyEvent>,
    /// Whether more events follow.
    pub more: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("the log of this study session is missing in the data folder")]
    Missing,
    #[error("cannot read the log of this study session: {0}")]
    Io(io::Error),
    #[error(
        "line {line} of the log of this study session is damaged: {reason}; export the original log as jsonl, or continue with after={line}"
    )]
    Damaged {
        /// From 1.
        line: u64,
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

/// Iterates over the lines of a log; an incomplete last line is skipped.
pub struct Lines {
    reader: BufReader<File>,
    line: Vec<u8>,
    number: u64,
}

enum LineRead {
    Line,
    TooLong,
    End,
}

impl Lines {
    pub fn open(path: &Path) -> Result<Self, LogError> {
        Ok(Self {
            reader: BufReader::with_capacity(64 << 10, File::open(path)?),
            line: Vec::new(),
            number: 0,
        })
    }

    /// Skips lines without parsing them. Each line is an event, so this skips by `eventIndex`.
    pub fn skip_to_after(&mut self, last: u64) -> Result<(), LogError> {
        while self.number < last {
            match self.seek_end(false)? {
                LineRead::Line | LineRead::TooLong => self.number += 1,
                LineRead::End => break,
            }
        }
        Ok(())
    }

    /// A page of events. If a damaged line follows, the events before it are returned first.
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

    /// Reads to the end of the next line and returns it if `kept`.
    fn seek_end(&mut self, stored: bool) -> io::Result<LineRead> {
        self.line.clear();
        let mut length = 0;
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok(LineRead::End);
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let part = &buffer[..end.unwrap_or(buffer.len())];
            length += part.len();
            if stored && length <= LONGEST_LINE {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                return Ok(match length <= LONGEST_LINE {
                    true => LineRead::Line,
                    false => LineRead::TooLong,
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
            LineRead::End => None,
            LineRead::TooLong => damaged("the line is too long".into()),
            LineRead::Line => match serde_json::from_slice(&self.line) {
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
    fn a_page_has_a_maximum_size_but_at_least_one_event() {
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
