//! Temporary holds on seats.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::{Claim, Hold, HoldLimits, HoldRequest, HoldResult};
use gangway_core::Result;

/// Removes expired holds.
pub(super) fn sweep(tables: &Transaction<'_>, now: Timestamp) -> Result<()> {
    let now = now.as_millisecond();
    tables.execute(
        "DELETE FROM seats WHERE hold IN (SELECT id FROM holds WHERE until <= ?1)",
        [now],
    )?;
    tables.execute("DELETE FROM holds WHERE until <= ?1", [now])?;
    Ok(())
}

/// Returns the result, and whether anything changed.
pub(super) fn keep(
    tables: &Transaction<'_>,
    request: &HoldRequest,
    limits: HoldLimits,
    now: Timestamp,
) -> Result<(HoldResult, bool)> {
    let now = now.as_millisecond();
    let (id, made) = match &request.replaces {
        Some(id) => {
            let sql = "SELECT made FROM holds WHERE id = ?1 AND cinema = ?2";
            let made: Option<i64> = tables
                .query_row(sql, [id, &request.cinema], |row| row.get(0))
                .optional()?;
            let Some(made) = made else {
                return Ok((HoldResult::Expired, false));
            };
            tables.execute("DELETE FROM seats WHERE hold = ?1", [id])?;
            tables.execute("DELETE FROM holds WHERE id = ?1", [id])?;
            (id, made)
        }
        None => {
            if let Some(until) = crowded(tables, request, limits)? {
                return Ok((HoldResult::TooMany(until), false));
            }
            (&request.id, now)
        }
    };
    let mut taken = Vec::new();
    for seat in &request.seats {
        let sql = "INSERT INTO seats (cinema, showing, seat, hold) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO NOTHING";
        if tables.execute(sql, params![request.cinema, request.showing, seat, id])? == 0 {
            taken.push(seat.clone());
        }
    }
    if !taken.is_empty() {
        return Ok((HoldResult::Taken(taken), false));
    }
    let millis = |time: std::time::Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let until = now
        .saturating_add(millis(limits.keep))
        .min(made.saturating_add(millis(limits.life)));
    tables.execute(
        "INSERT INTO holds (id, cinema, showing, caller, made, until) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![id, request.cinema, request.showing, request.caller, made, until],
    )?;
    let hold = Hold {
        id: id.clone(),
        showing: request.showing.clone(),
        seats: request.seats.clone(),
        until: Timestamp::from_millisecond(until).unwrap_or(Timestamp::MAX),
    };
    Ok((HoldResult::Kept(hold), true))
}

/// When the next hold expires, if the limit is reached.
fn crowded(
    tables: &Transaction<'_>,
    request: &HoldRequest,
    limits: HoldLimits,
) -> Result<Option<Timestamp>> {
    let whose = [None, Some(&request.caller)];
    for (caller, most) in whose.into_iter().zip([limits.holds, limits.per_caller]) {
        let sql = "SELECT count(*), min(until) FROM holds WHERE ?1 IS NULL OR caller = ?1";
        let (count, first): (usize, Option<i64>) =
            tables.query_row(sql, [caller], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if count >= most {
            let first = Timestamp::from_millisecond(first.unwrap_or_default());
            return Ok(Some(first.unwrap_or(Timestamp::MAX)));
        }
    }
    Ok(None)
}

pub(super) fn release(tables: &Transaction<'_>, id: &str) -> Result<(bool, bool)> {
    tables.execute("DELETE FROM seats WHERE hold = ?1", [id])?;
    let there = tables.execute("DELETE FROM holds WHERE id = ?1", [id])? > 0;
    Ok((there, there))
}

/// Held and booked seats of a showing, without expired holds.
pub(super) fn claims(
    connection: &Connection,
    cinema: &str,
    showing: &str,
    now: Timestamp,
) -> Result<Vec<Claim>> {
    let mut statement = connection.prepare_cached(
        "SELECT s.seat, s.hold FROM seats s LEFT JOIN holds h ON h.id = s.hold
         WHERE s.cinema = ?1 AND s.showing = ?2 AND (s.booking IS NOT NULL OR h.until > ?3) ORDER BY s.seat",
    )?;
    let claim = |row: &rusqlite::Row<'_>| {
        Ok(Claim {
            seat: row.get(0)?,
            hold: row.get(1)?,
        })
    };
    let found = statement.query_map(params![cinema, showing, now.as_millisecond()], claim)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
