//! Cinemas of study sessions: each has its own seats, so that no participant sees what another one took.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use gangway_core::Result;

/// How long an unused cinema is kept; longer than a participant stays away.
const IDLE: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Precision of the last-used time, so that reading seats is not a write each time.
const NOTED: SignedDuration = SignedDuration::from_hours(1);

/// Limits on open cinemas, in total and per caller.
const MOST: usize = 500;
const MOST_OF_ONE: usize = 250;

#[derive(Debug, Clone)]
pub struct NewCinema {
    /// Unguessable: knowing it is the right to use the cinema.
    pub id: String,
    pub seed: u32,
    /// Seconds by which its clock is ahead.
    pub shift: i64,
    pub caller: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyCinema {
    pub seed: u32,
    /// Seconds by which its clock is ahead.
    pub shift: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CinemaOutcome {
    Open,
    TooMany,
}

fn since(now: Timestamp, time: SignedDuration) -> i64 {
    let time = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    now.as_millisecond().saturating_sub(time)
}

/// Removes unused cinemas with everything in them.
pub(super) fn sweep(tables: &Transaction<'_>, now: Timestamp) -> Result<()> {
    let sql = "SELECT id FROM cinemas WHERE used <= ?1";
    let mut statement = tables.prepare_cached(sql)?;
    let idle = statement.query_map([since(now, IDLE)], |row| row.get(0))?;
    let idle: Vec<String> = idle.collect::<rusqlite::Result<_>>()?;
    for id in idle {
        close(tables, &id)?;
    }
    Ok(())
}

/// Returns the result, and whether anything changed.
pub(super) fn open(
    tables: &Transaction<'_>,
    request: &NewCinema,
    now: Timestamp,
) -> Result<(CinemaOutcome, bool)> {
    let sql = "SELECT count(*), count(*) FILTER (WHERE caller = ?1) FROM cinemas";
    let (all, own): (usize, usize) =
        tables.query_row(sql, [&request.caller], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if all >= MOST || own >= MOST_OF_ONE {
        return Ok((CinemaOutcome::TooMany, false));
    }
    tables.execute(
        "INSERT INTO cinemas (id, seed, shift, caller, used) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            request.id,
            request.seed,
            request.shift,
            request.caller,
            now.as_millisecond()
        ],
    )?;
    Ok((CinemaOutcome::Open, true))
}

/// Finds a cinema and updates its last-used time.
pub(super) fn find(
    connection: &Connection,
    id: &str,
    now: Timestamp,
) -> Result<Option<StudyCinema>> {
    let sql = "SELECT seed, shift FROM cinemas WHERE id = ?1 AND used > ?2";
    let cinema = |row: &rusqlite::Row<'_>| {
        Ok(StudyCinema {
            seed: row.get(0)?,
            shift: row.get(1)?,
        })
    };
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement
        .query_row(params![id, since(now, IDLE)], cinema)
        .optional()?;
    if found.is_some() {
        connection.execute(
            "UPDATE cinemas SET used = ?2 WHERE id = ?1 AND used <= ?3",
            params![id, now.as_millisecond(), since(now, NOTED)],
        )?;
    }
    Ok(found)
}

/// Returns whether the cinema existed, and whether anything changed.
pub(super) fn close(tables: &Transaction<'_>, id: &str) -> Result<(bool, bool)> {
    let there = tables.execute("DELETE FROM cinemas WHERE id = ?1", [id])? > 0;
    if there {
        for table in ["seats", "holds", "bookings"] {
            tables.execute(&format!("DELETE FROM {table} WHERE cinema = ?1"), [id])?;
        }
    }
    Ok((there, there))
}
