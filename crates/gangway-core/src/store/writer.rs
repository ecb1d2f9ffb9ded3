//! The writer: commits requests together, then publishes and answers.

use std::{
    collections::HashMap,
    sync::{Arc, Weak, atomic::Ordering},
};

use rusqlite::{Connection, OptionalExtension, hooks::Wal, params};

use super::{
    Commit,
    epoch::{self, State},
    read,
    record::{self, Put},
    request::{
        CommitCallback, Encoded, Request, Written, answer, done_when_committed, refusal, refused,
        send,
    },
    row::{Ends, Link},
    sum,
    sync::Syncs,
};
use crate::{
    error::{Error, Result},
    event::{self, EventKind, Logged},
    id::SessionId,
    log::Log,
};

/// Number of sessions whose last number is cached; beyond it they are looked up again.
const REMEMBERED: usize = 4096;

/// An append in an uncommitted transaction.
struct Inserted {
    log: Option<Arc<Log>>,
    events: Vec<Arc<Logged>>,
    last: u64,
}

/// The end of a session's log.
#[derive(Clone, Copy, Default)]
struct End {
    last: Link,
    /// The epoch of its last event; `None` if the log is empty.
    epoch: Option<u64>,
}

pub(super) struct Writer {
    connection: Connection,
    syncs: Weak<Syncs>,
    /// Cached ends of logs.
    last: HashMap<SessionId, End>,
    /// Ends of logs to be written before the commit, once per log.
    heads: HashMap<SessionId, u64>,
    /// The state row of the database.
    state: State,
    /// Whether it was stopped and accepts no more writes.
    finished: bool,
}

impl Writer {
    pub(super) fn new(mut connection: Connection, syncs: &Arc<Syncs>) -> Result<Self> {
        let noted = syncs.pages();
        connection.wal_hook(Some(move |_: &mut Wal, pages| {
            noted.store(u64::try_from(pages).unwrap_or(0), Ordering::Release);
            Ok(())
        }))?;
        Ok(Self {
            state: State::read(&connection)?,
            finished: false,
            connection,
            // A weak reference: the sync thread must end with the store, not with the writer's.
            syncs: Arc::downgrade(syncs),
            last: HashMap::new(),
            heads: HashMap::new(),
        })
    }

    /// Commits a group of requests; returns what publishes and answers them, or `None` when the store is gone.
    pub(super) fn commit(&mut self, group: Vec<Request>) -> Option<impl FnOnce() + use<>> {
        let syncs = self.syncs.upgrade()?;
        let (owed, result) = if self.finished {
            (
                group.into_iter().map(refusal).collect(),
                Err(Error::Stopping),
            )
        } else {
            self.commit_open(group, &syncs)
        };
        Some(move || {
            for settle in owed {
                settle(result.clone());
            }
        })
    }

    fn commit_open(
        &mut self,
        group: Vec<Request>,
        syncs: &Syncs,
    ) -> (Vec<CommitCallback>, Result<Commit>) {
        let empties = group
            .iter()
            .any(|request| matches!(request, Request::Erase { .. } | Request::Finish(_)));
        let stored = group
            .iter()
            .any(|request| matches!(request, Request::Append(append, _) if append.stored));
        let (owed, result) = self.write(group);
        let result = result.map(|()| syncs.committed(self.state.commits));
        if stored {
            // Before the callers are answered: the disk works in the meantime.
            syncs.want();
        }
        if let Err(error) = &result {
            tracing::error!(%error, "a commit failed");
            // The numbers that it assigned are invalid.
            self.last.clear();
        }
        if empties && result.is_ok() {
            self.checkpoint("TRUNCATE");
        }
        (owed, result)
    }

    /// Whether the write-ahead log is to be restarted, which may wait for the disk.
    pub(super) fn must_restart_log(&self) -> bool {
        self.syncs.upgrade().is_some_and(|syncs| syncs.is_moved())
    }

    /// Restarts the write-ahead log if nearly all of it is in the database. Its file stays: a log that grows again would
    /// need new blocks, which makes every write and every sync dearer.
    pub(super) fn restart_log(&self) {
        if self.syncs.upgrade().is_some_and(|syncs| syncs.take_moved()) {
            self.checkpoint("RESTART");
        }
    }

    /// Moves the write-ahead log into the database, unless a reader blocks it for long.
    fn checkpoint(&self, mode: &str) {
        let sql = format!("PRAGMA wal_checkpoint({mode})");
        if let Err(error) = self.connection.query_row(&sql, [], |_| Ok(())) {
            tracing::debug!(%error, "cannot restart the write-ahead log");
        }
    }

    fn write(&mut self, group: Vec<Request>) -> (Vec<CommitCallback>, Result<()>) {
        let mut owed = Vec::with_capacity(group.len());
        if let Err(error) = self.run_cached("BEGIN IMMEDIATE") {
            owed.extend(group.into_iter().map(refusal));
            return (owed, Err(error.into()));
        }
        let mut result = Ok(());
        let mut state = self.state.clone();
        let mut counts = false;
        for request in group {
            counts |= request.counts();
            state.clean |= matches!(request, Request::Finish(_));
            if result.is_err() {
                owed.push(refusal(request));
            } else {
                let (settle, applied) = self.apply(request);
                owed.push(settle);
                result = applied;
            }
        }
        if result.is_ok() {
            result = self.write_heads();
        }
        self.heads.clear();
        state.commits += u64::from(counts);
        if state != self.state && result.is_ok() {
            result = state.write(&self.connection);
        }
        let ended = match &result {
            Ok(()) => self.run_cached("COMMIT"),
            Err(_) => self.run_cached("ROLLBACK"),
        };
        if let (Ok(()), Err(error)) = (&result, ended) {
            result = Err(error.into());
            let _ = self.run_cached("ROLLBACK");
        }
        if result.is_ok() {
            self.finished = state.clean;
            self.state = state;
        }
        (owed, result)
    }

    /// A statement without values; parsing it again would cost as much as a small commit.
    fn run_cached(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([])?;
        Ok(())
    }

    /// Executes one request. A conflict concerns only that request; any other failure aborts the whole commit.
    fn apply(&mut self, request: Request) -> (CommitCallback, Result<()>) {
        match request {
            Request::Append(append, reply) => {
                if let Err(error) = record::check(&self.connection, &append.records) {
                    return (Box::new(move |_| send(reply, Err(error))), Ok(()));
                }
                let end = match self.end_of(append.session) {
                    Ok(end) => end,
                    // Only the log of this session is damaged.
                    Err(error @ Error::Corrupted(_)) => {
                        return (Box::new(move |_| send(reply, Err(error))), Ok(()));
                    }
                    Err(error) => return (refused(reply), Err(error)),
                };
                match self.insert(append, end) {
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
            Request::Finish(reply) => (done_when_committed(reply), Ok(())),
            Request::Compact {
                session,
                after,
                up_to,
                reply,
            } => {
                // The newest event always stays, so that no number is assigned twice.
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
            } => (done_when_committed(reply), self.trim(session, keep)),
            Request::Erase {
                session,
                keys,
                reply,
            } => {
                self.last.remove(&session);
                self.heads.remove(&session);
                let gone = keys
                    .into_iter()
                    .map(|key| Put::remove(key, super::Expect::Any))
                    .collect::<Vec<_>>();
                let erase = |sql| self.execute(sql, params![session.as_bytes()]);
                let done = erase("DELETE FROM events WHERE session = ?1")
                    .and_then(|()| erase("DELETE FROM once WHERE session = ?1"))
                    .and_then(|()| erase("DELETE FROM logs WHERE session = ?1"))
                    .and_then(|()| record::apply(&self.connection, &gone));
                (answer(reply), done)
            }
        }
    }

    fn execute(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<()> {
        self.connection.prepare_cached(sql)?.execute(parameters)?;
        Ok(())
    }

    fn trim(&mut self, session: SessionId, keep: u64) -> Result<()> {
        self.write_heads()?;
        let id = session.as_bytes();
        let ends = Ends::read(&self.connection, session)?;
        let sql = "SELECT seq FROM events WHERE session = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2";
        let floor: Option<u64> = self
            .connection
            .prepare_cached(sql)?
            .query_row(params![id, keep], |row| row.get(0))
            .optional()?;
        let Some(floor) = floor else {
            return Ok(());
        };
        let sql = "DELETE FROM events WHERE session = ?1 AND seq <= ?2";
        self.execute(sql, params![id, floor])?;
        let sql = "DELETE FROM once WHERE session = ?1 AND seq <= ?2";
        self.execute(sql, params![id, floor])?;
        let sql = "UPDATE logs SET floor = ?2, sum = ?3 WHERE session = ?1";
        let epoch = ends.epoch.unwrap_or(self.state.epoch);
        self.execute(
            sql,
            params![id, floor, sum::log(id, floor, ends.head, epoch)],
        )
    }

    fn insert(&mut self, append: Encoded, end: End) -> Result<Inserted> {
        let id = append.session.as_bytes();
        let End { mut last, epoch } = end;
        let before = last.plain();
        let is_new = epoch != Some(self.state.epoch);
        let first = match epoch {
            Some(_) if is_new => epoch::next_start(last.seq),
            _ => last.seq + 1,
        };
        let mut logged = Vec::with_capacity(append.events.len());
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO events (session, seq, at, kind, prev, sum, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        for (seq, (event, body)) in (first..).zip(append.events) {
            let (at, kind) = (event::now(), event.kind());
            last = Link {
                seq,
                prev: last.plain(),
                delta: kind == EventKind::Delta,
            };
            let (millis, kind) = (at.as_millisecond(), kind as i64);
            let sum = sum::event(id, seq, millis, kind, last.prev, &body);
            statement.execute(params![id, seq, millis, kind, last.prev, sum, body])?;
            logged.push(Arc::new(Logged::new(seq, at, event, body.len())));
        }
        drop(statement);
        let head = last.plain();
        if head != before || is_new {
            self.heads.insert(append.session, head);
        }
        if let Some(key) = append.once {
            let sql = "INSERT INTO once (session, key, seq, sum) VALUES (?1, ?2, ?3, ?4)";
            let sum = sum::once(id, &key, last.seq);
            self.execute(sql, params![id, key, last.seq, sum])?;
        }
        record::apply(&self.connection, &append.records)?;
        let epoch = Some(self.state.epoch);
        self.last.insert(append.session, End { last, epoch });
        Ok(Inserted {
            log: append.log,
            events: logged,
            last: last.seq,
        })
    }

    fn write_heads(&mut self) -> Result<()> {
        for (session, head) in self.heads.drain() {
            // Without a row the log was never trimmed.
            let sql = "INSERT INTO logs (session, floor, head, epoch, sum) VALUES (?1, 0, ?2, ?3, log_sum(?1, 0, ?2, ?3))
                       ON CONFLICT (session) DO UPDATE
                       SET head = ?2, epoch = ?3, sum = log_sum(session, floor, ?2, ?3)";
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.execute(params![session.as_bytes(), head, self.state.epoch])?;
        }
        Ok(())
    }

    fn end_of(&mut self, session: SessionId) -> Result<End> {
        if let Some(end) = self.last.get(&session) {
            return Ok(*end);
        }
        if self.last.len() >= REMEMBERED {
            self.last.clear();
        }
        self.write_heads()?;
        let ends = Ends::read(&self.connection, session)?;
        let last = read::last(&self.connection, session, ends)?;
        Ok(match last {
            // In an older format, a log with only deltas has no row.
            Some(last) => End {
                last,
                epoch: Some(ends.epoch.unwrap_or(0)),
            },
            None => End::default(),
        })
    }
}
