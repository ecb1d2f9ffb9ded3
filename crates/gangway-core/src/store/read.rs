//! Reads of a session's log after a number, with integrity checks.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    epoch,
    row::{self, COLUMNS, Ends, Forward, Link, damaged},
    sum,
};
use crate::{
    error::{Damage, Error, Result},
    event::Logged,
    id::SessionId,
    session::Gap,
};

/// Events after a number.
#[derive(Debug, Default)]
pub struct Page {
    /// The events, in order.
    pub events: Vec<Arc<Logged>>,
    /// Whether there were more than fit.
    pub more: bool,
}

/// The number of the event with this idempotency key.
pub(super) fn once(connection: &Connection, session: SessionId, key: &str) -> Result<Option<u64>> {
    let found: Option<(u64, i64)> = connection
        .prepare_cached("SELECT seq, sum FROM once WHERE session = ?1 AND key = ?2")?
        .query_row(params![session.as_bytes(), key], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()
        .map_err(|error| damaged(session, None, error))?;
    let Some((seq, stored)) = found else {
        return Ok(None);
    };
    sum::check(stored, sum::once(session.as_bytes(), key, seq), || {
        Damage::of(
            session,
            Some(seq),
            "the row of its idempotency key has a wrong checksum",
        )
    })?;
    Ok(Some(seq))
}

/// The first number in a log; 0 if it is empty.
pub(super) fn first(connection: &Connection, session: SessionId) -> Result<u64> {
    let found = connection
        .prepare_cached("SELECT min(seq) FROM events WHERE session = ?1")?
        .query_row([session.as_bytes()], |row| row.get::<_, Option<u64>>(0))
        .map_err(|error| damaged(session, None, error))?;
    Ok(found.unwrap_or(0))
}

/// Why a reader cannot resume after this number without a gap.
pub(super) fn gap(connection: &Connection, session: SessionId, after: u64) -> Result<Option<Gap>> {
    if after + 1 < first(connection, session)? {
        return Ok(Some(Gap::Trimmed));
    }
    let number = |sql: &str| {
        let mut statement = connection.prepare_cached(sql)?;
        statement.query_row(params![session.as_bytes(), after], |row| {
            row.get::<_, Option<u64>>(0)
        })
    };
    let next = number("SELECT min(seq) FROM events WHERE session = ?1 AND seq > ?2")
        .map_err(|error| damaged(session, None, error))?;
    if !next.is_some_and(epoch::is_start) {
        return Ok(None);
    }
    // The last number of an epoch has an event; later numbers were taken back, if they were ever assigned.
    let there = number("SELECT min(seq) FROM events WHERE session = ?1 AND seq = ?2")
        .map_err(|error| damaged(session, None, error))?;
    Ok(there.is_none().then_some(Gap::Lost))
}

/// The newest event of a session, if any; checks that the log does not end too early.
pub(super) fn last(
    connection: &Connection,
    session: SessionId,
    ends: Ends,
) -> Result<Option<Link>> {
    let sql = format!("SELECT {COLUMNS} FROM events WHERE session = ?1 ORDER BY seq DESC LIMIT 1");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([session.as_bytes()])?;
    let found = rows.next().map_err(|error| damaged(session, None, error))?;
    let newest = found.map(|row| row::logged(session, row)).transpose()?;
    let link = newest.map(|(_, link)| link);
    if link.map_or(0, Link::plain) != ends.head {
        let what = format!("its log ends at {}", link.map_or(0, |link| link.seq));
        return Err(Error::Corrupted(Damage::of(session, Some(ends.head), what)));
    }
    if let Some(link) = link {
        row::check_neighbour(connection, session, link.seq)?;
    }
    Ok(link)
}

pub(super) fn page(
    connection: &Connection,
    session: SessionId,
    after: u64,
    max_bytes: usize,
) -> Result<Page> {
    // One read transaction, so that all queries see the same snapshot.
    let connection = connection.unchecked_transaction()?;
    let ends = Ends::read(&connection, session)?;
    let mut chain = Forward::new(session, ends, after);
    let sql = format!("SELECT {COLUMNS} FROM events WHERE session = ?1 AND seq > ?2 ORDER BY seq");
    let mut statement = connection.prepare_cached(&sql)?;
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![session.as_bytes(), after])?;
    let mut page = Page::default();
    let mut bytes = 0;
    while let Some(row) = rows.next().map_err(|error| {
        let last = page.events.last().map(|event| event.seq + 1);
        damaged(session, last, error)
    })? {
        let (event, link) = row::logged(session, row)?;
        chain.take(link)?;
        if bytes > 0 && bytes + event.size > max_bytes {
            page.more = true;
            break;
        }
        bytes += event.size;
        page.events.push(Arc::new(event));
    }
    if !page.more {
        chain.end()?;
    }
    Ok(page)
}
