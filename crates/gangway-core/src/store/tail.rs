//! Reads of the newest events of a session, with integrity checks.

use std::{collections::BTreeSet, sync::Arc};

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    epoch, read,
    row::{self, Backward, COLUMNS, Ends, damaged},
};
use crate::{
    error::{Damage, Error, Result},
    event::{Event, Logged},
    id::SessionId,
};

/// Maximum number of bytes loaded for the newest events: a long conversation.
const TAIL_BYTES: usize = 8 << 20;

/// A snapshot of the newest events of a session.
#[derive(Debug, Default)]
pub struct Tail {
    /// The events, in order.
    pub events: Vec<Arc<Logged>>,
    /// Whether there are older ones.
    pub older: bool,
    /// The last number in the snapshot.
    pub last: u64,
    /// Hidden turns that began before the first event.
    pub hidden: Vec<u64>,
}

pub(super) fn tail(
    connection: &Connection,
    session: SessionId,
    before: Option<u64>,
    limit: usize,
) -> Result<Tail> {
    // One read transaction, so that all queries see the same snapshot.
    let connection = connection.unchecked_transaction()?;
    let ends = Ends::read(&connection, session)?;
    let first = read::first(&connection, session)?;
    let last = read::last(&connection, session, ends)?.map_or(0, |link| link.seq);
    let mut budget = TAIL_BYTES;
    let mut chain = Backward::new(&connection, session, ends, before)?;
    let end = before.map_or(i64::MAX, |before| i64::try_from(before).unwrap_or(i64::MAX));
    let mut events = newest(&connection, session, end, limit, &mut budget, &mut chain)?;
    let oldest = |events: &[Arc<Logged>]| events.last().map_or(0, |event| event.seq);
    if oldest(&events) > first {
        let end = oldest(&events);
        let missing = back_to_turn_start(&connection, session, end, limit, budget, &mut chain)?;
        events.extend(missing);
    }
    let older = oldest(&events) > first;
    events.reverse();
    if before.is_none() {
        events.extend(open_deltas(&connection, session)?);
        events.sort_by_key(|event| event.seq);
    }
    let hidden = hidden_before(&connection, session, ends, &events)?;
    Ok(Tail {
        events,
        older,
        last,
        hidden,
    })
}

/// Hidden turns whose first event is not among the events.
fn hidden_before(
    connection: &Connection,
    session: SessionId,
    ends: Ends,
    events: &[Arc<Logged>],
) -> Result<Vec<u64>> {
    let first = events.first().map_or(0, |event| event.seq);
    let turns = events
        .iter()
        .filter_map(|event| event.event.turn(event.seq));
    let turns: BTreeSet<u64> = turns.filter(|turn| *turn < first).collect();
    let sql = format!("SELECT {COLUMNS} FROM events WHERE session = ?1 AND seq = ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut hidden = Vec::new();
    for turn in turns {
        let mut rows = statement.query(params![session.as_bytes(), turn])?;
        let found = rows.next().map_err(|e| damaged(session, Some(turn), e))?;
        let Some(row) = found else {
            if turn > ends.floor {
                let damage = Damage::of(session, Some(turn), "it is missing");
                return Err(Error::Corrupted(damage));
            }
            continue;
        };
        let (begun, _) = row::logged(session, row)?;
        if matches!(begun.event, Event::MessageStarted { shown: false, .. }) {
            hidden.push(turn);
        }
    }
    Ok(hidden)
}

const NEWEST: &str = "FROM events WHERE session = ?1 AND seq < ?2 AND kind <> 1 ORDER BY seq DESC";

/// Newest first, as many as `limit` and the size limit allow, at least one.
fn newest(
    connection: &Connection,
    session: SessionId,
    end: i64,
    limit: usize,
    budget: &mut usize,
    chain: &mut Backward,
) -> Result<Vec<Arc<Logged>>> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} {NEWEST}"))?;
    let mut rows = statement.query(params![session.as_bytes(), end])?;
    let mut events = Vec::new();
    while events.len() < limit {
        let Some(row) = rows.next().map_err(|e| damaged(session, None, e))? else {
            chain.end()?;
            break;
        };
        let size = row.get_ref(5)?.as_bytes().map_or(0, <[u8]>::len);
        if !events.is_empty() && size > *budget {
            *budget = 0;
            break;
        }
        *budget = budget.saturating_sub(size);
        let (event, link) = row::logged(session, row)?;
        chain.take(link)?;
        events.push(Arc::new(event));
    }
    Ok(events)
}

/// The incomplete message as one delta: everything after the last event that closed a message.
fn open_deltas(connection: &Connection, session: SessionId) -> Result<Option<Arc<Logged>>> {
    let id = session.as_bytes();
    let closed: u64 = connection
        .prepare_cached(
            "SELECT seq FROM events WHERE session = ?1 AND kind = 2 ORDER BY seq DESC LIMIT 1",
        )?
        .query_row(params![id], |row| row.get(0))
        .optional()
        .map_err(|e| damaged(session, None, e))?
        .unwrap_or(0);
    let sql = format!(
        "SELECT {COLUMNS} FROM events WHERE session = ?1 AND seq > ?2 AND kind = 1 ORDER BY seq"
    );
    let mut open = connection.prepare_cached(&sql)?;
    let mut rows = open.query(params![id, closed])?;
    let mut whole: Option<Logged> = None;
    // Many small deltas need far more memory than their text.
    while let Some(row) = rows.next().map_err(|e| damaged(session, None, e))? {
        let (next, _) = row::logged(session, row)?;
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
    drop(rows);
    if whole.is_some() {
        check_contiguous(connection, session, closed)?;
    }
    Ok(whole.map(Arc::new))
}

/// No delta is dropped after the last event that closed a message, so all numbers exist.
fn check_contiguous(connection: &Connection, session: SessionId, closed: u64) -> Result<()> {
    let sql = "SELECT seq FROM events WHERE session = ?1 AND seq > ?2 ORDER BY seq";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![session.as_bytes(), closed])?;
    let mut last = closed;
    while let Some(row) = rows.next().map_err(|e| damaged(session, None, e))? {
        let seq = row.get(0)?;
        if seq != last + 1 && !epoch::is_start(seq) && last != 0 {
            let what = "a part of the message before it is missing";
            return Err(Error::Corrupted(Damage::of(session, Some(seq), what)));
        }
        last = seq;
    }
    Ok(())
}

/// The events between an event and the start of its turn, newest first, so that no call is shown without its result.
fn back_to_turn_start(
    connection: &Connection,
    session: SessionId,
    first: u64,
    limit: usize,
    mut budget: usize,
    chain: &mut Backward,
) -> Result<Vec<Arc<Logged>>> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} {NEWEST}"))?;
    let mut rows = statement.query(params![session.as_bytes(), first])?;
    let mut events = Vec::new();
    while events.len() < limit {
        let Some(row) = rows.next().map_err(|e| damaged(session, None, e))? else {
            chain.end()?;
            break;
        };
        let size = row.get_ref(5)?.as_bytes().map_or(0, <[u8]>::len);
        if size > budget {
            break;
        }
        budget -= size;
        let (event, link) = row::logged(session, row)?;
        chain.take(link)?;
        let event = Arc::new(event);
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
