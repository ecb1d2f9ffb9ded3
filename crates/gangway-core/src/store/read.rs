//! Reads on a few connections of their own, beside the writer.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};
use tokio::sync::Semaphore;

use crate::{
    error::{Error, Result},
    event::{Event, Logged},
    id::SessionId,
};

/// Connections that may read at once; more callers wait.
const READERS: usize = 4;

/// Bytes of events that a look at the newest ones loads at the most: a long conversation, not a long life.
const TAIL_BYTES: usize = 8 << 20;

/// Events after a number.
#[derive(Debug, Default)]
pub struct Page {
    /// The events, in order.
    pub events: Vec<Arc<Logged>>,
    /// Whether there were more than fitted.
    pub more: bool,
}

/// The newest events of a session, read at one moment.
#[derive(Debug, Default)]
pub struct Tail {
    /// The events, in order.
    pub events: Vec<Arc<Logged>>,
    /// Whether there are older ones.
    pub older: bool,
    /// The last number at that moment.
    pub last: u64,
    /// Turns in it that are not shown in the chat, and began before its first event.
    pub hidden: Vec<u64>,
}

/// Connections that wait to be used.
pub(super) struct Readers {
    file: PathBuf,
    idle: Mutex<Vec<Connection>>,
    free: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(file: PathBuf) -> Self {
        Self {
            file,
            idle: Mutex::default(),
            free: Arc::new(Semaphore::new(READERS)),
        }
    }

    /// Runs a read on a thread that may block.
    pub(super) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let free = Arc::clone(&self.free);
        let place = free.acquire_owned().await.map_err(|_| super::stopped())?;
        let readers = Arc::clone(self);
        let work = move || {
            // Held by the read itself: a caller that goes away does not make it end.
            let _place = place;
            let connection = match readers.idle().pop() {
                Some(connection) => connection,
                None => super::open::reader(&readers.file)?,
            };
            let result = read(&connection);
            readers.idle().push(connection);
            result
        };
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|error| Error::Storage(error.to_string()))?
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of the event that a request led to.
pub(super) fn once(connection: &Connection, session: SessionId, key: &str) -> Result<Option<u64>> {
    let mut statement =
        connection.prepare_cached("SELECT seq FROM once WHERE session = ?1 AND key = ?2")?;
    let found = statement.query_row(params![session.as_bytes(), key], |row| row.get(0));
    Ok(found.optional()?)
}

/// Two look-ups at the ends of the index; min and max in one query would walk the whole log.
pub(super) fn bounds(connection: &Connection, session: SessionId) -> Result<(u64, u64)> {
    let first = "SELECT min(seq) FROM events WHERE session = ?1";
    Ok((
        number(connection, first, session)?,
        last(connection, session)?,
    ))
}

/// The last number of a session; 0 when it has none.
pub(super) fn last(connection: &Connection, session: SessionId) -> Result<u64> {
    let last = "SELECT max(seq) FROM events WHERE session = ?1";
    number(connection, last, session)
}

fn number(connection: &Connection, sql: &str, session: SessionId) -> Result<u64> {
    let found = connection
        .prepare_cached(sql)?
        .query_row([session.as_bytes()], |row| row.get::<_, Option<u64>>(0))?;
    Ok(found.unwrap_or(0))
}

pub(super) fn page(
    connection: &Connection,
    session: SessionId,
    after: u64,
    max_bytes: usize,
) -> Result<Page> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, at, body FROM events WHERE session = ?1 AND seq > ?2 ORDER BY seq",
    )?;
    let mut rows = statement.query(params![
        session.as_bytes(),
        i64::try_from(after).unwrap_or(i64::MAX)
    ])?;
    let mut page = Page::default();
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        let event = logged(row)?;
        if bytes > 0 && bytes + event.size > max_bytes {
            page.more = true;
            break;
        }
        bytes += event.size;
        page.events.push(Arc::new(event));
    }
    Ok(page)
}

pub(super) fn tail(
    connection: &Connection,
    session: SessionId,
    before: Option<u64>,
    limit: usize,
) -> Result<Tail> {
    // One read transaction, so that every query sees the same moment.
    let connection = connection.unchecked_transaction()?;
    let id = session.as_bytes();
    let end = before.map_or(i64::MAX, |before| i64::try_from(before).unwrap_or(i64::MAX));
    let mut budget = TAIL_BYTES;
    let mut events = newest(&connection, id, end, limit, &mut budget)?;
    let (first, last) = bounds(&connection, session)?;
    let oldest = |events: &[Arc<Logged>]| events.last().map_or(0, |event| event.seq);
    if oldest(&events) > first {
        let missing = back_to_turn_start(&connection, id, oldest(&events), limit, budget)?;
        events.extend(missing);
    }
    let older = oldest(&events) > first;
    events.reverse();
    if before.is_none() {
        events.extend(open_deltas(&connection, id)?);
        events.sort_by_key(|event| event.seq);
    }
    let hidden = hidden_before(&connection, id, &events)?;
    Ok(Tail {
        events,
        older,
        last,
        hidden,
    })
}

/// Turns that are not shown, where their beginning is not among the events.
fn hidden_before(
    connection: &Connection,
    id: &[u8; 16],
    events: &[Arc<Logged>],
) -> Result<Vec<u64>> {
    let first = events.first().map_or(0, |event| event.seq);
    let turns = events
        .iter()
        .filter_map(|event| event.event.turn(event.seq));
    let turns: BTreeSet<u64> = turns.filter(|turn| *turn < first).collect();
    let mut statement = connection
        .prepare_cached("SELECT seq, at, body FROM events WHERE session = ?1 AND seq = ?2")?;
    let mut hidden = Vec::new();
    for turn in turns {
        let mut rows = statement.query(params![id, turn])?;
        if let Some(row) = rows.next()?
            && matches!(
                logged(row)?.event,
                Event::MessageStarted { shown: false, .. }
            )
        {
            hidden.push(turn);
        }
    }
    Ok(hidden)
}

/// Newest first, as many as `limit` and the budget in bytes allow, at least one.
fn newest(
    connection: &Connection,
    id: &[u8; 16],
    end: i64,
    limit: usize,
    budget: &mut usize,
) -> Result<Vec<Arc<Logged>>> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, at, body FROM events
         WHERE session = ?1 AND seq < ?2 AND kind <> 1 ORDER BY seq DESC LIMIT ?3",
    )?;
    let mut rows = statement.query(params![id, end, limit])?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let size = row.get_ref(2)?.as_bytes().map_or(0, <[u8]>::len);
        if !events.is_empty() && size > *budget {
            *budget = 0;
            break;
        }
        *budget = budget.saturating_sub(size);
        events.push(Arc::new(logged(row)?));
    }
    Ok(events)
}

/// The message that is not whole yet, as one delta: all there is after the last thing that closed one.
fn open_deltas(connection: &Connection, id: &[u8; 16]) -> Result<Option<Arc<Logged>>> {
    let closed: u64 = connection
        .prepare_cached(
            "SELECT seq FROM events WHERE session = ?1 AND kind = 2 ORDER BY seq DESC LIMIT 1",
        )?
        .query_row(params![id], |row| row.get(0))
        .optional()?
        .unwrap_or(0);
    let mut open = connection.prepare_cached(
        "SELECT seq, at, body FROM events
         WHERE session = ?1 AND seq > ?2 AND kind = 1 ORDER BY seq",
    )?;
    let mut rows = open.query(params![id, closed])?;
    let mut whole: Option<Logged> = None;
    // Many small pieces weigh far more than their text.
    while let Some(row) = rows.next()? {
        let next = logged(row)?;
        match (&mut whole, next.event) {
            (
                Some(Logged {
                    event: Event::Delta { text: so_far, .. },
                    ..
                }),
                Event::Delta { text, .. },
            ) => so_far.push_str(&text),
            (_, event) => whole = Some(Logged::new(next.seq, next.at, event, next.size)),
        }
    }
    Ok(whole.map(Arc::new))
}

/// What lies between an event and the start of the turn that it is part of, newest first, so that no call is shown
/// without its result.
fn back_to_turn_start(
    connection: &Connection,
    id: &[u8; 16],
    first: u64,
    limit: usize,
    mut budget: usize,
) -> Result<Vec<Arc<Logged>>> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, at, body FROM events
         WHERE session = ?1 AND seq < ?2 AND kind <> 1 ORDER BY seq DESC LIMIT ?3",
    )?;
    let mut rows = statement.query(params![id, first, limit])?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let size = row.get_ref(2)?.as_bytes().map_or(0, <[u8]>::len);
        if size > budget {
            break;
        }
        budget -= size;
        let event = Arc::new(logged(row)?);
        match event.event {
            Event::TurnEnded { .. } => break,
            Event::TurnStarted { .. } => {
                events.push(event);
                break;
            }
            _ => events.push(event),
        }
    }
    Ok(events)
}

fn logged(row: &Row<'_>) -> Result<Logged> {
    let seq: u64 = row.get(0)?;
    let body = row.get_ref(2)?.as_str().map_err(|e| unreadable(seq, &e))?;
    let at = Timestamp::from_millisecond(row.get(1)?).map_err(|e| unreadable(seq, &e))?;
    let event = serde_json::from_str(body).map_err(|e| unreadable(seq, &e))?;
    Ok(Logged::new(seq, at, event, body.len()))
}

fn unreadable(seq: u64, error: &dyn std::error::Error) -> Error {
    Error::Storage(format!("event {seq} does not read: {error}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn reads_whose_callers_went_away_leave_no_more_connections_than_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gangway.db");
        super::super::open::writer(&file).unwrap();
        let readers = Arc::new(Readers::new(file));
        for _ in 0..40 {
            let slow = readers.run(|_| {
                std::thread::sleep(Duration::from_millis(5));
                Ok(())
            });
            let _ = tokio::time::timeout(Duration::from_millis(1), slow).await;
        }
        let all = u32::try_from(READERS).unwrap();
        let _rest = readers.free.acquire_many(all).await.unwrap();
        assert!(readers.idle().len() <= READERS);
    }
}
