//! What happens with pages, for the logs of their sessions.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use gangway_core::{
    Command, Hub, PageEntry, PageId, PageKind, Session, SessionId, Source, ToolError, ToolName,
    event::now,
};
use serde_json::Value;
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{
    offer::{DEEPEST, is_deeper},
    page::Page,
};

/// Entries that wait to be written. Those of calls wait for room; others are dropped then, since pages must not.
const WAITING: usize = 4096;

/// Bytes of the arguments and the result of a call in the log; larger ones are cut.
const BYTES: usize = 64 << 10;

/// Sessions that the writer keeps awake, and for how long.
const SESSIONS: usize = 64;
const AWAKE: Duration = Duration::from_secs(1);

/// What an entry of a log is about: a page, or the agents of a relay session while it has none.
#[derive(Debug, Clone)]
pub struct Subject {
    pub session: SessionId,
    pub page: PageId,
    pub kind: PageKind,
    pub name: String,
}

/// An entry for the log of a session.
struct Note {
    about: Subject,
    entry: PageEntry,
}

/// Where entries are put.
pub(crate) struct Notes {
    queue: mpsc::Sender<Note>,
    /// The number of the last call; begins with the clock, so that calls are not confused after a restart.
    last_call: AtomicU64,
}

/// The entries, in order; see [`PageNotes::write`].
pub struct PageNotes(mpsc::Receiver<Note>);

impl Notes {
    pub(crate) fn new() -> (Self, PageNotes) {
        let (queue, entries) = mpsc::channel(WAITING);
        let last = u64::try_from(now().as_microsecond()).unwrap_or_default();
        let last_call = AtomicU64::new(last);
        (Self { queue, last_call }, PageNotes(entries))
    }

    /// Notes something about a page of this session, unless it belongs to none.
    pub(crate) fn put(&self, page: &Page, session: Option<SessionId>, entry: PageEntry) {
        if let Some(about) = subject(page, session) {
            self.put_about(about, entry);
        }
    }

    pub(crate) fn put_about(&self, about: Subject, entry: PageEntry) {
        let note = Note { about, entry };
        if let Err(mpsc::error::TrySendError::Full(_)) = self.queue.try_send(note) {
            tracing::warn!("an event of a page is not logged: too many are waiting");
        }
    }

    async fn put_waiting(&self, page: &Page, session: Option<SessionId>, entry: PageEntry) {
        if let Some(about) = subject(page, session) {
            // It ends with the server.
            let _ = self.queue.send(Note { about, entry }).await;
        }
    }

    /// Calls a tool of a page for a caller whose calls are not logged otherwise.
    pub(crate) async fn call(
        &self,
        page: &Page,
        by: Source,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        let session = page.logged_in();
        if session.is_none() {
            return page.channel.call(tool, arguments).await;
        }
        let number = self.last_call.fetch_add(1, Ordering::Relaxed) + 1;
        let id = format!("p{number}");
        let called = PageEntry::Called {
            call: id.clone(),
            tool: tool.to_string(),
            arguments: short(&arguments),
            by,
        };
        self.put_waiting(page, session, called).await;
        let mut open = Open {
            notes: self,
            page,
            session,
            call: Some(id),
        };
        let result = page.channel.call(tool, arguments).await;
        if let Some(call) = open.call.take() {
            let returned = match &result {
                Ok(value) => returned(call, Ok(short(value)), None),
                Err(error) => returned(call, Err(error.to_string()), Some(error.code())),
            };
            self.put_waiting(page, session, returned).await;
        }
        result
    }
}

/// A call whose caller may go; its end is logged all the same.
struct Open<'a> {
    notes: &'a Notes,
    page: &'a Page,
    session: Option<SessionId>,
    call: Option<String>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            let cancelled = returned(call, Err("the call was cancelled".to_owned()), None);
            self.notes.put(self.page, self.session, cancelled);
        }
    }
}

fn returned(call: String, result: Result<Value, String>, code: Option<&str>) -> PageEntry {
    PageEntry::Returned {
        call,
        result,
        code: code.map(str::to_owned),
    }
}

fn subject(page: &Page, session: Option<SessionId>) -> Option<Subject> {
    Some(Subject {
        session: session?,
        page: page.id,
        kind: page.kind,
        name: page.name.clone(),
    })
}

/// An entry with values that the log takes.
pub(crate) fn bounded(entry: PageEntry) -> PageEntry {
    match entry {
        PageEntry::Called {
            call,
            tool,
            arguments,
            by,
        } => PageEntry::Called {
            call,
            tool,
            arguments: short(&arguments),
            by,
        },
        PageEntry::Returned { call, result, code } => PageEntry::Returned {
            call,
            result: result.map(|value| short(&value)),
            code,
        },
        PageEntry::Message {
            r#type,
            payload,
            by,
        } => PageEntry::Message {
            r#type,
            payload: short(&payload),
            by,
        },
        other => other,
    }
}

/// A value for the log, where it must be readable again.
fn short(value: &Value) -> Value {
    let text = value.to_string();
    if text.len() <= BYTES && !is_deeper(value, DEEPEST) {
        return value.clone();
    }
    let mut end = text.len().min(BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Value::String(format!("{}…", &text[..end]))
}

impl PageNotes {
    /// Writes the entries to the logs of their sessions, until the server stops.
    pub async fn write(mut self, hub: Arc<Hub>, stop: CancellationToken) {
        let mut open: HashMap<SessionId, Arc<Session>> = HashMap::new();
        let mut opened = Instant::now();
        loop {
            // Entries that come one after another do not load their session each time; one that is used no more may sleep.
            if open.len() >= SESSIONS || opened.elapsed() >= AWAKE {
                open.clear();
                opened = Instant::now();
            }
            let note = tokio::select! {
                note = self.0.recv() => note,
                () = tokio::time::sleep_until(opened + AWAKE), if !open.is_empty() => continue,
                () = stop.cancelled() => return,
            };
            let Some(Note { about, entry }) = note else {
                return;
            };
            let id = about.session;
            let session = match open.get(&id) {
                Some(session) => Arc::clone(session),
                None => match hub.open(id).await {
                    Ok(session) => session,
                    // It was deleted.
                    Err(_) => continue,
                },
            };
            let command = Command::Page {
                page: about.page,
                kind: about.kind,
                name: about.name,
                page_event: Box::new(entry),
            };
            // The order in the session is that of the queue; nobody waits for the disk.
            let written = session.enqueue(command).await;
            match written {
                Ok(_) => drop(open.insert(id, session)),
                Err(error) => {
                    open.remove(&id);
                    tracing::debug!(%error, "an event of a page is not logged");
                }
            }
        }
    }
}
