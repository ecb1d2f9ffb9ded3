//! What the writer can be asked for, and how it answers.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{Commit, record::Put};
use crate::{
    error::{Error, Result},
    event::{Event, Kind},
    id::SessionId,
    log::Log,
};

/// Events to number and write, with the records that change along.
pub struct Append {
    /// The session that says them.
    pub session: SessionId,
    /// The events, in order.
    pub events: Vec<Event>,
    /// Records that change in the same commit.
    pub records: Vec<Put>,
    /// Where to broadcast them once they are written.
    pub log: Option<Arc<Log>>,
    /// The name of the request behind it, so that the same request is known when it comes again.
    pub once: Option<String>,
}

/// Where an append ended up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The number of its last event.
    pub last: u64,
    /// The commit it was part of.
    pub commit: Commit,
}

/// An append whose events are already text, so that the writer has less to do.
pub(super) struct Encoded {
    pub(super) session: SessionId,
    pub(super) events: Vec<(Event, String)>,
    pub(super) records: Vec<Put>,
    pub(super) log: Option<Arc<Log>>,
    pub(super) once: Option<String>,
    /// Whether the caller will wait until it is on the disk.
    pub(super) kept: bool,
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
            kept: false,
        })
    }
}

pub(super) type Reply<T> = oneshot::Sender<Result<T>>;

/// What the writer can be asked for.
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
    /// Moves everything from the write-ahead log into the database, and writes nothing after that.
    Finish(Reply<()>),
}

impl Request {
    /// Whether losing it would lose more than deltas, which their messages replace.
    pub(super) fn counts(&self) -> bool {
        match self {
            Self::Append(append, _) => {
                let plain = |(event, _): &(Event, String)| event.kind() != Kind::Delta;
                !append.records.is_empty() || append.events.iter().any(plain)
            }
            Self::Put(records, _) => !records.is_empty(),
            Self::Trim { .. } | Self::Erase { .. } => true,
            Self::Compact { .. } | Self::Finish(_) => false,
        }
    }
}

/// What is owed to a caller once the commit stands.
pub(super) type Owed = Box<dyn FnOnce(Result<Commit>)>;

pub(super) fn send<T>(reply: Reply<T>, result: Result<T>) {
    // A caller that went away does not need the answer; the effect stands.
    let _ = reply.send(result);
}

pub(super) fn answer(reply: Reply<Commit>) -> Owed {
    Box::new(move |commit| send(reply, commit))
}

pub(super) fn done_when_committed(reply: Reply<()>) -> Owed {
    Box::new(move |commit| send(reply, commit.map(|_| ())))
}

/// An append that did not happen; it is only ever settled with the error of its commit.
pub(super) fn refused(reply: Reply<Written>) -> Owed {
    Box::new(move |commit| send(reply, commit.map(|commit| Written { last: 0, commit })))
}

pub(super) fn refusal(request: Request) -> Owed {
    match request {
        Request::Append(_, reply) => refused(reply),
        Request::Put(_, reply) | Request::Erase { reply, .. } => answer(reply),
        Request::Compact { reply, .. } | Request::Trim { reply, .. } | Request::Finish(reply) => {
            done_when_committed(reply)
        }
    }
}
