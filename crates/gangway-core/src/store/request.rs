//! Requests to the writer, and their answers.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{Commit, record::Put};
use crate::{
    error::{Error, Result},
    event::{Event, EventKind},
    id::SessionId,
    log::Log,
};

/// Events to append, with records to write atomically.
pub struct Append {
    /// The session.
    pub session: SessionId,
    /// The events, in order.
    pub events: Vec<Event>,
    /// Records that change in the same commit.
    pub records: Vec<Put>,
    /// The log to publish them to once they are written.
    pub log: Option<Arc<Log>>,
    /// The idempotency key of the request.
    pub once: Option<String>,
}

/// The position of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The number of its last event.
    pub last: u64,
    /// Its commit.
    pub commit: Commit,
}

/// An append with serialized events, so that the writer has less to do.
pub(super) struct Encoded {
    pub(super) session: SessionId,
    pub(super) events: Vec<(Event, String)>,
    pub(super) records: Vec<Put>,
    pub(super) log: Option<Arc<Log>>,
    pub(super) once: Option<String>,
    /// Whether the caller will wait until it is on disk.
    pub(super) stored: bool,
}

impl Append {
    pub(super) fn encode(self) -> Result<Encoded> {
        let events = self
            .events
            .into_iter()
            .map(|event| match serde_json::to_string(&event) {
                Ok(body) => Ok((event, body)),
                Err(error) => Err(Error::Storage(error.to_string())),
            })
            .collect::<Result<_>>()?;
        Ok(Encoded {
            session: self.session,
            events,
            records: self.records,
            log: self.log,
            once: self.once,
            stored: false,
        })
    }
}

pub(super) type Reply<T> = oneshot::Sender<Result<T>>;

/// A request to the writer.
pub(super) enum Request {
    Append(Encoded, Reply<Written>),
    Put(Vec<Put>, Reply<Commit>),
    Compact {
        session: SessionId,
        after: u64,
        up_to: u64,
        reply: Reply<()>,
    },
    Trim {
        session: SessionId,
        keep: u64,
        reply: Reply<()>,
    },
    Erase {
        session: SessionId,
        keys: Vec<String>,
        reply: Reply<Commit>,
    },
    /// Moves the write-ahead log into the database, and stops all writes.
    Finish(Reply<()>),
}

impl Request {
    /// Whether losing it would lose more than deltas, which their messages replace.
    pub(super) fn counts(&self) -> bool {
        match self {
            Self::Append(append, _) => {
                let plain = |(event, _): &(Event, String)| event.kind() != EventKind::Delta;
                !append.records.is_empty() || append.events.iter().any(plain)
            }
            Self::Put(records, _) => !records.is_empty(),
            Self::Trim { .. } | Self::Erase { .. } => true,
            Self::Compact { .. } | Self::Finish(_) => false,
        }
    }
}

/// A caller to answer once the transaction is committed.
pub(super) type CommitCallback = Box<dyn FnOnce(Result<Commit>)>;

pub(super) fn send<T>(reply: Reply<T>, result: Result<T>) {
    // A caller that was dropped needs no answer; the effect remains.
    let _ = reply.send(result);
}

pub(super) fn answer(reply: Reply<Commit>) -> CommitCallback {
    Box::new(move |commit| send(reply, commit))
}

pub(super) fn done_when_committed(reply: Reply<()>) -> CommitCallback {
    Box::new(move |commit| send(reply, commit.map(|_| ())))
}

/// A failed append, always settled with the error of its commit.
pub(super) fn refused(reply: Reply<Written>) -> CommitCallback {
    Box::new(move |commit| send(reply, commit.map(|commit| Written { last: 0, commit })))
}

pub(super) fn refusal(request: Request) -> CommitCallback {
    match request {
        Request::Append(_, reply) => refused(reply),
        Request::Put(_, reply) | Request::Erase { reply, .. } => answer(reply),
        Request::Compact { reply, .. } | Request::Trim { reply, .. } | Request::Finish(reply) => {
            done_when_committed(reply)
        }
    }
}
