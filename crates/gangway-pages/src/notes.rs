//! What happens with pages, for the logs of their sessions.

use std::sync::atomic::{AtomicU64, Ordering};

use gangway_core::{
    Command, Notes, PageEntry, PageId, PageKind, SessionId, Source, ToolError, ToolName, event::now,
};
use serde_json::Value;

use crate::{
    offer::{DEEPEST, is_deeper},
    page::Page,
};

/// Bytes of the arguments and the result of a call in the log; larger ones are cut.
const BYTES: usize = 64 << 10;

/// What an entry of a log is about: a page, or the agents of a relay session while it has none.
#[derive(Debug, Clone)]
pub struct Subject {
    pub session: SessionId,
    pub page: PageId,
    pub kind: PageKind,
    pub name: String,
}

/// Where entries are put. Those of calls wait for room; others are dropped then, since pages must not.
pub(crate) struct PageNotes {
    notes: Notes,
    /// The number of the last call; begins with the clock, so that calls are not confused after a restart.
    last_call: AtomicU64,
}

impl PageNotes {
    pub(crate) fn new(notes: Notes) -> Self {
        let last = u64::try_from(now().as_microsecond()).unwrap_or_default();
        let last_call = AtomicU64::new(last);
        Self { notes, last_call }
    }

    /// Notes something about a page of this session, unless it belongs to none.
    pub(crate) fn put(&self, page: &Page, session: Option<SessionId>, entry: PageEntry) {
        if let Some(about) = subject(page, session) {
            self.put_about(about, entry);
        }
    }

    pub(crate) fn put_about(&self, about: Subject, entry: PageEntry) {
        let session = about.session;
        self.notes.put(session, command(about, entry));
    }

    async fn put_waiting(&self, page: &Page, session: Option<SessionId>, entry: PageEntry) {
        if let Some(about) = subject(page, session) {
            let session = about.session;
            let command = command(about, entry);
            self.notes.put_waiting(session, command).await;
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
    notes: &'a PageNotes,
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

fn command(about: Subject, entry: PageEntry) -> Command {
    Command::Page {
        page: about.page,
        kind: about.kind,
        name: about.name,
        page_event: Box::new(entry),
    }
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
