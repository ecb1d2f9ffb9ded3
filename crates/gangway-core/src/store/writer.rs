//! The one thread that writes: it takes whatever waits, commits it together, then broadcasts and answers.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use rusqlite::{Connection, params};
use tokio::sync::{mpsc, oneshot};

use super::{
    Commit,
    record::{self, Put},
    sync::Syncs,
};
use crate::{
    error::{Error, Result},
    event::{self, Event, Logged},
    id::SessionId,
    log::Log,
};

/// The most requests one commit takes: enough to amortise it, few enough to answer soon.
const GROUP: usize = 512;

/// Sessions whose last number is remembered; beyond this they are looked up again.
const REMEMBERED: usize = 4096;

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
    session: SessionId,
    events: Vec<(Event, String)>,
    records: Vec<Put>,
    log: Option<Arc<Log>>,
    once: Option<String>,
    /// Whether the caller will wait until it is on the disk.
    pub(super) kept: bool,
}

/// An append that is in the database and waits for the commit.
struct Inserted {
    log: Option<Arc<Log>>,
    events: Vec<Arc<Logged>>,
    last: u64,
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

type Reply<T> = oneshot::Sender<Result<T>>;

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
}

/// What is owed to a caller once the commit stands.
type Owed = Box<dyn FnOnce(Result<Commit>)>;

/// Starts the thread; it ends when every sender is gone.
pub(super) fn start(
    connection: Connection,
    syncs: Arc<Syncs>,
    waiting: usize,
) -> Result<mpsc::Sender<Request>> {
    let (sender, requests) = mpsc::channel(waiting);
    // A weak hold: the sync thread must end with the store, not with this one.
    let writer = Writer {
        connection,
        syncs: Arc::downgrade(&syncs),
        last: HashMap::new(),
    };
    std::thread::Builder::new()
        .name("gangway-write".into())
        .spawn(move || writer.run(requests))
        .map_err(|error| Error::Storage(error.to_string()))?;
    Ok(sender)
}

struct Writer {
    connection: Connection,
    syncs: Weak<Syncs>,
    last: HashMap<SessionId, u64>,
}

impl Writer {
    fn run(mut self, mut requests: mpsc::Receiver<Request>) {
        while let Some(first) = requests.blocking_recv() {
            let mut group = vec![first];
            while group.len() < GROUP {
                match requests.try_recv() {
                    Ok(next) => group.push(next),
                    Err(_) => break,
                }
            }
            let Some(syncs) = self.syncs.upgrade() else {
                return;
            };
            let erases = group
                .iter()
                .any(|request| matches!(request, Request::Erase { .. }));
            let kept = group
                .iter()
                .any(|request| matches!(request, Request::Append(append, _) if append.kept));
            let (owed, result) = self.commit(group);
            let result = result.map(|()| syncs.committed());
            if kept {
                // Before anyone is told: the disk works while they are.
                syncs.want();
            }
            if let Err(error) = &result {
                tracing::error!(%error, "a commit failed");
                // The numbers given out in it do not stand.
                self.last.clear();
            }
            if erases && result.is_ok() {
                self.empty_wal();
            }
            for settle in owed {
                settle(result.clone());
            }
            // Only the writer can do it under constant writing: nobody else ever finds a gap between two commits.
            if syncs.take_moved() {
                self.empty_wal();
            }
        }
    }

    /// Begins the write-ahead log anew, unless a reader stays in the way for long.
    fn empty_wal(&self) {
        let emptied = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        if let Err(error) = emptied {
            tracing::debug!(%error, "the write-ahead log could not be emptied");
        }
    }

    fn commit(&mut self, group: Vec<Request>) -> (Vec<Owed>, Result<()>) {
        let mut owed = Vec::with_capacity(group.len());
        if let Err(error) = self.run_cached("BEGIN IMMEDIATE") {
            owed.extend(group.into_iter().map(refusal));
            return (owed, Err(error.into()));
        }
        let mut result = Ok(());
        for request in group {
            if result.is_err() {
                owed.push(refusal(request));
            } else {
                let (settle, applied) = self.apply(request);
                owed.push(settle);
                result = applied;
            }
        }
        let ended = match &result {
            Ok(()) => self.run_cached("COMMIT"),
            Err(_) => self.run_cached("ROLLBACK"),
        };
        if let (Ok(()), Err(error)) = (&result, ended) {
            result = Err(error.into());
            let _ = self.run_cached("ROLLBACK");
        }
        (owed, result)
    }

    /// A statement without values; parsing it anew would cost a small commit as much as writing it.
    fn run_cached(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([])?;
        Ok(())
    }

    /// Does the work of one request. A conflict concerns that request alone; any other failure ends the whole commit.
    fn apply(&mut self, request: Request) -> (Owed, Result<()>) {
        match request {
            Request::Append(append, reply) => {
                if let Err(error) = record::check(&self.connection, &append.records) {
                    return (Box::new(move |_| send(reply, Err(error))), Ok(()));
                }
                match self.insert(append) {
                    Ok(Inserted { log, events, last }) => (
                        Box::new(move |commit| {
                            if let (Ok(_), Some(log)) = (&commit, log) {
                                log.publish(events);
                            }
                            send(reply, commit.map(|commit| Written { last, commit }));
                        }),
                        Ok(()),
                    ),
                    Err(error) => (refused(reply), Err(error)),
                }
            }
            Request::Put(records, reply) => {
                if let Err(error) = record::check(&self.connection, &records) {
                    return (Box::new(move |_| send(reply, Err(error))), Ok(()));
                }
                let applied = record::apply(&self.connection, &records);
                (answer(reply), applied)
            }
            Request::Compact {
                session,
                after,
                up_to,
                reply,
            } => {
                // The newest event stays whatever it is, so that no number is given out twice.
                let sql =
                    "DELETE FROM events WHERE session = ?1 AND seq > ?2 AND seq <= ?3 AND kind = 1
                     AND seq < (SELECT max(seq) FROM events WHERE session = ?1)";
                let done = self.execute(sql, params![session.as_bytes(), after, up_to]);
                (done_when_committed(reply), done)
            }
            Request::Trim {
                session,
                keep,
                reply,
            } => {
                let sql = "DELETE FROM events WHERE session = ?1 AND seq <= (SELECT max(seq) FROM events WHERE session = ?1) - ?2";
                let done = self.execute(sql, params![session.as_bytes(), keep]).and_then(|()| {
                    let sql = "DELETE FROM once WHERE session = ?1 AND seq < (SELECT min(seq) FROM events WHERE session = ?1)";
                    self.execute(sql, params![session.as_bytes()])
                });
                (done_when_committed(reply), done)
            }
            Request::Erase {
                session,
                keys,
                reply,
            } => {
                self.last.remove(&session);
                let gone = keys
                    .into_iter()
                    .map(|key| Put::remove(key, super::Expect::Any))
                    .collect::<Vec<_>>();
                let erase = |sql| self.execute(sql, params![session.as_bytes()]);
                let done = erase("DELETE FROM events WHERE session = ?1")
                    .and_then(|()| erase("DELETE FROM once WHERE session = ?1"))
                    .and_then(|()| record::apply(&self.connection, &gone));
                (answer(reply), done)
            }
        }
    }

    fn execute(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<()> {
        self.connection.prepare_cached(sql)?.execute(parameters)?;
        Ok(())
    }

    fn insert(&mut self, append: Encoded) -> Result<Inserted> {
        let mut last = self.last_number(append.session)?;
        let mut logged = Vec::with_capacity(append.events.len());
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO events (session, seq, at, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        for (event, body) in append.events {
            last += 1;
            let at = event::now();
            statement.execute(params![
                append.session.as_bytes(),
                last,
                at.as_millisecond(),
                event.kind() as i64,
                body
            ])?;
            logged.push(Arc::new(Logged::new(last, at, event, body.len())));
        }
        drop(statement);
        if let Some(key) = append.once {
            let sql = "INSERT INTO once (session, key, seq) VALUES (?1, ?2, ?3)";
            self.execute(sql, params![append.session.as_bytes(), key, last])?;
        }
        record::apply(&self.connection, &append.records)?;
        self.last.insert(append.session, last);
        Ok(Inserted {
            log: append.log,
            events: logged,
            last,
        })
    }

    fn last_number(&mut self, session: SessionId) -> Result<u64> {
        if let Some(last) = self.last.get(&session) {
            return Ok(*last);
        }
        if self.last.len() >= REMEMBERED {
            self.last.clear();
        }
        super::read::last(&self.connection, session)
    }
}

fn send<T>(reply: Reply<T>, result: Result<T>) {
    // A caller that went away does not need the answer; the effect stands.
    let _ = reply.send(result);
}

fn answer(reply: Reply<Commit>) -> Owed {
    Box::new(move |commit| send(reply, commit))
}

fn done_when_committed(reply: Reply<()>) -> Owed {
    Box::new(move |commit| send(reply, commit.map(|_| ())))
}

/// An append that did not happen; it is only ever settled with the error of its commit.
fn refused(reply: Reply<Written>) -> Owed {
    Box::new(move |commit| send(reply, commit.map(|commit| Written { last: 0, commit })))
}

fn refusal(request: Request) -> Owed {
    match request {
        Request::Append(_, reply) => refused(reply),
        Request::Put(_, reply) | Request::Erase { reply, .. } => answer(reply),
        Request::Compact { reply, .. } | Request::Trim { reply, .. } => done_when_committed(reply),
    }
}
