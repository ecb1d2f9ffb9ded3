//! Cinemas of study sessions: each has its own seats, so that no participant sees what another one took.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use gangway_core::Result;

/// How long a cinema stays that nobody uses; longer than a participant stays away.
const IDLE: SignedDuration = SignedDuration::from_hours(7 * 24);

/// How exactly it is noted that a cinema is used, so that reading seats is not a write each time.
const NOTED: SignedDuration = SignedDuration::from_hours(1);

/// Cinemas at once, and those of one caller. What is in one is bounded by itself.
const MOST: usize = 500;
const MOST_OF_ONE: usize = 250;

/// A cinema that is wanted.
#[derive(Debug, Clone)]
pub struct CinemaWish {
    /// An unguessable id: knowing it is the right to use the cinema.
    pub id: String,
    /// What decides its program.
    pub seed: u32,
    /// Seconds by which its clock is ahead.
    pub shift: i64,
    /// Who wants it.
    pub caller: String,
}

/// The cinema of a study session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyCinema {
    /// What decides its program.
    pub seed: u32,
    /// Seconds by which its clock is ahead.
    pub shift: i64,
}

/// What came of a wish to open a cinema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opened {
    /// It is open.
    Open,
    /// There are as many as there may be.
    TooMany,
}

fn since(now: Timestamp, time: SignedDuration) -> i64 {
    let time = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    now.as_millisecond().saturating_sub(time)
}

/// Removes the cinemas that nobody uses, with everything in them.
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

/// The answer, and whether it changed anything.
pub(super) fn open(
    tables: &Transaction<'_>,
    wish: &CinemaWish,
    now: Timestamp,
) -> Result<(Opened, bool)> {
    let sql = "SELECT count(*), count(*) FILTER (WHERE caller = ?1) FROM cinemas";
    let (all, own): (usize, usize) =
        tables.query_row(sql, [&wish.caller], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if all >= MOST || own >= MOST_OF_ONE {
        return Ok((Opened::TooMany, false));
    }
    tables.execute(
        "INSERT INTO cinemas (id, seed, shift, caller, used) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            wish.id,
            wish.seed,
            wish.shift,
            wish.caller,
            now.as_millisecond()
        ],
    )?;
    Ok((Opened::Open, true))
}

/// The cinema, which is in use from now on.
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

/// Whether there was such a cinema, twice: once for the caller, once because it is gone now.
pub(super) fn close(tables: &Transaction<'_>, id: &str) -> Result<(bool, bool)> {
    let there = tables.execute("DELETE FROM cinemas WHERE id = ?1", [id])? > 0;
    if there {
        for table in ["seats", "holds", "bookings"] {
            tables.execute(&format!("DELETE FROM {table} WHERE cinema = ?1"), [id])?;
        }
    }
    Ok((there, there))
}
