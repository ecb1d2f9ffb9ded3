//! Stored events: each has a checksum and a link to the previous one, so that missing events are noticed as well as
//! changed ones.
//!
//! `prev` is the number of the previous event that is not a delta. Deltas may be dropped in whole runs; everything else
//! stays until the log is trimmed, so that the links have no gap.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{epoch, sum};
use crate::{
    error::{Damage, Error, Result},
    event::{EventKind, Logged},
    id::SessionId,
};

/// The columns that [`logged`] reads, in this order.
pub(super) const COLUMNS: &str = "seq, at, kind, prev, sum, body";

/// The position of an event in its log.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Link {
    pub(super) seq: u64,
    pub(super) prev: u64,
    pub(super) delta: bool,
}

impl Link {
    /// The last event up to this one that is not a delta.
    pub(super) fn plain(self) -> u64 {
        if self.delta { self.prev } else { self.seq }
    }
}

/// The row of a log.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ends {
    /// Everything up to this number was trimmed.
    pub(super) floor: u64,
    /// The number of the last event that is not a delta.
    pub(super) head: u64,
    /// The epoch of its last event; `None` if it has no events.
    pub(super) epoch: Option<u64>,
}

impl Ends {
    pub(super) fn read(connection: &Connection, session: SessionId) -> Result<Self> {
        let id = session.as_bytes();
        let found: Option<(u64, u64, u64, i64)> = connection
            .prepare_cached("SELECT floor, head, epoch, sum FROM logs WHERE session = ?1")?
            .query_row([id], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
            .optional()
            .map_err(|error| damaged(session, None, error))?;
        let Some((floor, head, epoch, stored)) = found else {
            return Ok(Self::default());
        };
        sum::check(stored, sum::log(id, floor, head, epoch), || {
            Damage::of(
                session,
                None,
                "the row with the ends of its log has a wrong checksum",
            )
        })?;
        Ok(Self {
            floor,
            head,
            epoch: Some(epoch),
        })
    }
}

/// An event of this session from its row, if the checksum matches.
pub(super) fn logged(session: SessionId, row: &Row<'_>) -> Result<(Logged, Link)> {
    read(session.as_bytes(), row).map_err(|error| error.in_session(session, row.get(0).ok()))
}

pub(super) fn read(id: &[u8], row: &Row<'_>) -> Result<(Logged, Link)> {
    let (seq, at, kind): (u64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let (prev, stored): (u64, i64) = (row.get(3)?, row.get(4)?);
    let unreadable = |what: &dyn std::fmt::Display| Error::Corrupted(Damage::new(what.to_string()));
    let body = row.get_ref(5)?.as_str().map_err(|e| unreadable(&e))?;
    let computed = sum::event(id, seq, at, kind, prev, body);
    sum::check(stored, computed, || Damage::new("its checksum is wrong"))?;
    let at = Timestamp::from_millisecond(at).map_err(|e| unreadable(&e))?;
    // The checksum matches, so this is a bug or a newer format, not a disk error.
    let event = serde_json::from_str(body)
        .map_err(|e| Error::Storage(format!("cannot parse event {seq}: {e}")))?;
    let link = Link {
        seq,
        prev,
        delta: kind == EventKind::Delta as i64,
    };
    Ok((Logged::new(seq, at, event, body.len()), link))
}

/// Checks the first row of the table after this number. If a damaged key ends a session's events too early, this is the
/// row that has it.
pub(super) fn check_neighbour(
    connection: &Connection,
    session: SessionId,
    last: u64,
) -> Result<()> {
    let next: Option<(Vec<u8>, u64, i64)> = connection
        .prepare_cached(
            "SELECT session, seq, sum FROM events WHERE (session, seq) > (?1, ?2)
             ORDER BY session, seq LIMIT 1",
        )?
        .query_row(params![session.as_bytes(), last], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()
        .map_err(|error| damaged(session, None, error))?;
    match next {
        Some((id, seq, stored)) if !sum::is_of(stored, sum::event_key(&id, seq)) => {
            let what = "a damaged row is in its place";
            Err(Error::Corrupted(Damage::of(session, Some(last + 1), what)))
        }
        _ => Ok(()),
    }
}

/// Follows events in order and detects missing ones.
pub(super) struct Forward {
    session: SessionId,
    ends: Ends,
    /// The number after which the next event is expected.
    last: u64,
    after: u64,
    found: Option<Link>,
}

impl Forward {
    pub(super) fn new(session: SessionId, ends: Ends, after: u64) -> Self {
        let after = after.max(ends.floor);
        Self {
            session,
            ends,
            last: after,
            after,
            found: None,
        }
    }

    pub(super) fn take(&mut self, link: Link) -> Result<()> {
        let linked = match self.found {
            Some(found) => link.prev == found.plain(),
            None => link.prev <= self.after,
        };
        // Runs of deltas are dropped as a whole, so a gap is only allowed between other events.
        let whole = link.seq == self.last + 1
            || epoch::is_start(link.seq)
            || !link.delta && self.found.is_none_or(|found| !found.delta);
        if !linked || !whole || link.seq <= self.last {
            return Err(self.missing(self.last + 1, link.seq));
        }
        self.last = link.seq;
        self.found = Some(link);
        Ok(())
    }

    /// Continues after an unexpected event.
    pub(super) fn skip_to(&mut self, link: Link) {
        self.last = link.seq;
        self.found = Some(link);
    }

    /// Must be called after the last event.
    pub(super) fn end(&self) -> Result<()> {
        let whole = match self.found {
            Some(found) => found.plain() == self.ends.head,
            None => self.ends.head <= self.after,
        };
        if whole {
            Ok(())
        } else {
            Err(self.missing(self.last + 1, self.ends.head + 1))
        }
    }

    fn missing(&self, from: u64, before: u64) -> Error {
        missing(self.session, from, before.saturating_sub(1))
    }
}

/// Follows the non-delta events, newest first, and detects missing ones.
pub(super) struct Backward {
    session: SessionId,
    floor: u64,
    /// The number of the next one.
    next: u64,
}

impl Backward {
    /// Starts at the last event before this number.
    pub(super) fn new(
        connection: &Connection,
        session: SessionId,
        ends: Ends,
        before: Option<u64>,
    ) -> Result<Self> {
        let mut backward = Self {
            session,
            floor: ends.floor,
            next: ends.head,
        };
        let Some(before) = before.filter(|before| *before <= ends.head) else {
            return Ok(backward);
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM events WHERE session = ?1 AND seq >= ?2 ORDER BY seq LIMIT 1"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params![session.as_bytes(), before])?;
        let Some(row) = rows.next().map_err(|e| damaged(session, None, e))? else {
            return Err(missing(session, before, ends.head));
        };
        backward.next = logged(session, row)?.1.prev;
        Ok(backward)
    }

    pub(super) fn take(&mut self, link: Link) -> Result<()> {
        if link.seq != self.next {
            return Err(missing(self.session, link.seq + 1, self.next));
        }
        self.next = link.prev;
        Ok(())
    }

    /// Must be called after the last event.
    pub(super) fn end(&self) -> Result<()> {
        if self.next <= self.floor {
            Ok(())
        } else {
            Err(missing(self.session, self.floor + 1, self.next))
        }
    }
}

fn missing(session: SessionId, from: u64, to: u64) -> Error {
    let what = if from < to {
        format!("events {from} to {to} are missing")
    } else {
        "it is missing or out of order".to_owned()
    };
    Error::Corrupted(Damage::of(session, Some(to), what))
}

/// The error of a read in this session.
pub(super) fn damaged(session: SessionId, event: Option<u64>, error: rusqlite::Error) -> Error {
    Error::from(error).in_session(session, event)
}
