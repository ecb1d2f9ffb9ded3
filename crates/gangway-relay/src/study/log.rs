//! The log of one study session: JSON Lines with consecutive numbers, synced to disk when the session ends.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use jiff::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use ts_rs::TS;
use utoipa::ToSchema;

use super::super::StudyId;

/// Size limit of a log.
const MOST_BYTES: u64 = 1 << 30;

/// Reserved, so that a study session with a full log can still be ended.
const KEPT_FOR_THE_END: u64 = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "lowercase")]
#[schema(as = StudyDirection)]
#[ts(rename = "StudyDirection")]
pub enum Direction {
    /// To the page.
    In,
    /// From the page.
    Out,
    /// By the relay itself.
    Internal,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogRecord<'a> {
    session_id: &'a str,
    event_index: u64,
    timestamp: String,
    direction: Direction,
    r#type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    payload: &'a RawValue,
}

#[derive(Clone, Copy)]
pub struct LogEntry<'a> {
    pub direction: Direction,
    /// The type of the message.
    pub kind: &'a str,
    pub payload: &'a RawValue,
    /// Request id: for messages to the page their own, otherwise the one they answer.
    pub question: Option<&'a str>,
    pub agent: Option<&'a str>,
}

impl<'a> LogEntry<'a> {
    /// A message that is neither a request nor an answer.
    #[must_use]
    pub fn of(direction: Direction, kind: &'a str, payload: &'a RawValue) -> Self {
        Self {
            direction,
            kind,
            payload,
            question: None,
            agent: None,
        }
    }
}

pub struct StudyLog {
    id: StudyId,
    open: Mutex<LogFile>,
}

struct LogFile {
    file: File,
    next: u64,
    /// Bytes written.
    size: u64,
    /// Size limit.
    most: u64,
    /// Reused buffer.
    line: Vec<u8>,
    /// Why logging has stopped.
    stopped: Option<&'static str>,
}

impl StudyLog {
    /// Fails if the file exists.
    pub fn create(folder: &Path, id: StudyId) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.append(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path(folder, &id))?;
        // Sync the directory too, or the file may be missing after a power failure.
        #[cfg(unix)]
        File::open(folder)?.sync_all()?;
        Ok(Self::over(id, file, 1, 0))
    }

    /// Continues a log. An incomplete last line after a crash is truncated; the content of other lines is not checked.
    pub fn resume(folder: &Path, id: StudyId) -> io::Result<Self> {
        let path = path(folder, &id);
        // Truncating through a link would change another file.
        if path.is_symlink() {
            return Err(io::Error::other("it is a symbolic link"));
        }
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        let (mut lines, mut whole, mut at) = (0, 0, 0);
        let mut buffer = vec![0; 64 << 10];
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            for (n, _) in (0_u64..).zip(&buffer[..read]).filter(|(_, b)| **b == b'\n') {
                lines += 1;
                whole = at + n + 1;
            }
            at += read as u64;
        }
        file.set_len(whole)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self::over(id, file, lines + 1, whole))
    }

    fn over(id: StudyId, file: File, next: u64, size: u64) -> Self {
        let open = LogFile {
            file,
            next,
            size,
            most: MOST_BYTES,
            line: Vec::with_capacity(4096),
            stopped: None,
        };
        Self {
            id,
            open: Mutex::new(open),
        }
    }

    #[must_use]
    pub fn id(&self) -> &StudyId {
        &self.id
    }

    #[must_use]
    pub fn count(&self) -> u64 {
        self.open.lock().next - 1
    }

    /// Writes one line; it survives the end of this process.
    pub fn write(&self, note: LogEntry<'_>) -> io::Result<u64> {
        let kind = note.kind;
        let mut open = self.open.lock();
        let open = &mut *open;
        let ends = matches!(kind, "session.end" | "session.ended");
        if let Some(why) = open.stopped.filter(|_| !ends) {
            return Err(io::Error::other(why));
        }
        let index = open.next;
        open.line.clear();
        let line = LogRecord {
            session_id: self.id.as_str(),
            event_index: index,
            timestamp: timestamp(Timestamp::now()),
            direction: note.direction,
            r#type: kind,
            id: note.question.filter(|_| note.direction == Direction::In),
            reply_to: note.question.filter(|_| note.direction != Direction::In),
            agent: note.agent,
            payload: note.payload,
        };
        serde_json::to_writer(&mut open.line, &line)?;
        // JSON may contain line breaks between tokens, which would split the line or forge one.
        for byte in &mut open.line {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        open.line.push(b'\n');
        let most = if ends {
            open.most
        } else {
            open.most.saturating_sub(KEPT_FOR_THE_END)
        };
        let size = open.size + open.line.len() as u64;
        if size > most {
            let why = "the study log is full (1 GiB); end this study session and start another";
            open.stopped = Some(why);
            return Err(io::Error::other(why));
        }
        if let Err(error) = open.file.write_all(&open.line) {
            open.stopped = Some("an earlier line could not be written");
            // Remove the partial line.
            open.file.set_len(open.size)?;
            open.file.seek(SeekFrom::End(0))?;
            return Err(error);
        }
        open.size = size;
        open.next += 1;
        Ok(index)
    }

    pub fn sync(&self) -> io::Result<()> {
        let file = self.open.lock().file.try_clone()?;
        file.sync_data()
    }
}

#[must_use]
pub fn path(folder: &Path, id: &StudyId) -> std::path::PathBuf {
    folder.join(format!("{id}.jsonl"))
}

/// Always with milliseconds.
fn timestamp(at: Timestamp) -> String {
    format!("{at:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn a_line_stays_one_line_however_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let id: StudyId = "s-20260213-001".parse().unwrap();
        let log = StudyLog::create(folder.path(), id.clone()).unwrap();
        let forged = "{\"params\": [\n{\"eventIndex\":2},\r\n{\"b\":\"c\\nd\"}\r]}";
        let payload = raw(forged);
        let note = LogEntry {
            question: Some("r7"),
            agent: Some("me"),
            ..LogEntry::of(Direction::In, "tool.call", &payload)
        };
        log.write(note).unwrap();
        let text = std::fs::read_to_string(path(folder.path(), &id)).unwrap();
        assert_eq!((text.lines().count(), text.matches('\r').count()), (1, 0));
        let line: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&line["id"], &line["agent"]), (&"r7".into(), &"me".into()));
        assert_eq!(line["payload"]["params"][1]["b"], "c\nd");
    }

    #[test]
    fn lines_are_counted_on_after_a_crash_and_a_torn_one_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let id: StudyId = "s-20260213-001".parse().unwrap();
        let log = StudyLog::create(folder.path(), id.clone()).unwrap();
        for n in 1..=3 {
            let index = log
                .write(LogEntry::of(Direction::In, "tool.call", &raw(r#"{"a":1}"#)))
                .unwrap();
            assert_eq!(index, n);
        }
        assert!(StudyLog::create(folder.path(), id.clone()).is_err());
        drop(log);
        let file = path(folder.path(), &id);
        let mut torn = OpenOptions::new().append(true).open(&file).unwrap();
        torn.write_all(br#"{"sessionId":"s-2026"#).unwrap();
        let log = StudyLog::resume(folder.path(), id).unwrap();
        log.write(LogEntry::of(
            Direction::Internal,
            "relay.joined",
            &raw("{}"),
        ))
        .unwrap();
        log.sync().unwrap();
        let text = std::fs::read_to_string(file).unwrap();
        let lines: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let indexes: Vec<_> = lines
            .iter()
            .map(|line| line["eventIndex"].as_u64().unwrap())
            .collect();
        assert_eq!(indexes, [1, 2, 3, 4]);
        assert_eq!(lines[3]["direction"], "internal");
        let stamp = lines[0]["timestamp"].as_str().unwrap();
        assert!(stamp.ends_with('Z') && stamp.len() == 24, "{stamp}");
    }

    #[test]
    fn damage_in_the_middle_does_not_stop_a_log_from_continuing() {
        let folder = tempfile::tempdir().unwrap();
        let id: StudyId = "s-20260213-001".parse().unwrap();
        let file = path(folder.path(), &id);
        std::fs::write(&file, b"{}\nno json \xff\0\n{}\n").unwrap();
        let log = StudyLog::resume(folder.path(), id).unwrap();
        assert_eq!(log.count(), 3);
        let index = log
            .write(LogEntry::of(Direction::In, "tool.call", &raw("{}")))
            .unwrap();
        assert_eq!((index, log.count()), (4, 4));
    }

    #[test]
    fn a_full_log_refuses_everything_but_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let id: StudyId = "s-20260213-001".parse().unwrap();
        let log = StudyLog::create(folder.path(), id.clone()).unwrap();
        log.open.lock().most = KEPT_FOR_THE_END + 200;
        let small = raw("{}");
        log.write(LogEntry::of(Direction::In, "tool.call", &small))
            .unwrap();
        let error = log
            .write(LogEntry::of(Direction::In, "tool.call", &small))
            .unwrap_err();
        assert!(error.to_string().contains("is full"), "{error}");
        log.write(LogEntry::of(Direction::In, "session.end", &small))
            .unwrap();
        log.write(LogEntry::of(Direction::Out, "session.ended", &small))
            .unwrap();
        assert!(
            log.write(LogEntry::of(Direction::In, "tool.call", &small))
                .is_err()
        );
        let lines = std::fs::read_to_string(path(folder.path(), &id)).unwrap();
        assert_eq!((lines.lines().count(), log.count()), (3, 3));
    }

    #[cfg(unix)]
    #[test]
    fn a_log_is_for_its_owner_alone_and_never_behind_a_link() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let id: StudyId = "s-20260213-001".parse().unwrap();
        drop(StudyLog::create(folder.path(), id.clone()).unwrap());
        let file = path(folder.path(), &id);
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let other: StudyId = "s-20260213-002".parse().unwrap();
        symlink(&file, path(folder.path(), &other)).unwrap();
        assert!(StudyLog::resume(folder.path(), other.clone()).is_err());
        assert!(StudyLog::create(folder.path(), other).is_err());
    }
}
