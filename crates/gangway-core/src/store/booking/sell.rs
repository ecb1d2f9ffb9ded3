//! Holds that become bookings.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::{Booking, BookingWish, Sold, list, text};
use crate::error::Result;

/// A booking with what its seats were held by.
struct Found {
    hold: String,
    booking: Booking,
}

const FIELDS: &str = "SELECT id, code, hold, showing, seats, tickets, total_cents FROM bookings";

/// The answer, and whether it changed anything.
pub(super) fn book(
    tables: &Transaction<'_>,
    wish: &BookingWish,
    now: Timestamp,
) -> Result<(Sold, bool)> {
    let by_name = format!("{FIELDS} WHERE caller = ?1 AND name = ?2");
    if let Some(name) = &wish.name
        && let Some(found) = one(tables, &by_name, &[&wish.caller, name])?
    {
        let same = found.answers(wish);
        return Ok((same.map_or(Sold::OtherRequest, Sold::Booked), false));
    }
    let by_hold = format!("{FIELDS} WHERE hold = ?1");
    if let Some(found) = one(tables, &by_hold, &[&wish.hold])? {
        let same = found.answers(wish);
        return Ok((same.map_or(Sold::Already, Sold::Booked), false));
    }
    if !wish.open {
        return Ok((Sold::Closed, false));
    }
    let sql = "SELECT showing FROM holds WHERE id = ?1";
    let showing: Option<String> = tables
        .query_row(sql, [&wish.hold], |row| row.get(0))
        .optional()?;
    match showing {
        None => return Ok((Sold::Expired, false)),
        Some(showing) if showing != wish.showing => return Ok((Sold::OtherShowing, false)),
        Some(_) => {}
    }
    let seats = seats_of(tables, &wish.hold)?;
    let wanted: u64 = wish.tickets.values().map(|count| u64::from(*count)).sum();
    if wanted != seats.len() as u64 {
        return Ok((Sold::DoesNotFit(seats.len()), false));
    }
    let sql = "SELECT 1 FROM bookings WHERE code = ?1";
    if tables.prepare(sql)?.exists([&wish.code])? {
        return Ok((Sold::CodeTaken, false));
    }
    let booking = Booking {
        id: wish.id.clone(),
        code: wish.code.clone(),
        showing: wish.showing.clone(),
        seats,
        tickets: wish.tickets.clone(),
        total_cents: wish.total_cents,
    };
    tables.execute(
        "INSERT INTO bookings (id, code, hold, showing, seats, tickets, total_cents, caller, name, made)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params![
            booking.id,
            booking.code,
            wish.hold,
            booking.showing,
            text(&booking.seats)?,
            text(&booking.tickets)?,
            booking.total_cents,
            wish.caller,
            wish.name,
            now.as_millisecond(),
        ],
    )?;
    let sql = "UPDATE seats SET booking = ?1, hold = NULL WHERE hold = ?2";
    tables.execute(sql, [&booking.id, &wish.hold])?;
    tables.execute("DELETE FROM holds WHERE id = ?1", [&wish.hold])?;
    Ok((Sold::Booked(booking), true))
}

pub(super) fn find(connection: &Connection, id: &str) -> Result<Option<Booking>> {
    let found = one(connection, &format!("{FIELDS} WHERE id = ?1"), &[id])?;
    Ok(found.map(|found| found.booking))
}

fn seats_of(tables: &Transaction<'_>, hold: &str) -> Result<Vec<String>> {
    // Row by row, and 2 before 10.
    let sql =
        "SELECT seat FROM seats WHERE hold = ?1 ORDER BY substr(seat, 1, 1), length(seat), seat";
    let mut statement = tables.prepare_cached(sql)?;
    let seats = statement.query_map([hold], |row| row.get(0))?;
    Ok(seats.collect::<rusqlite::Result<_>>()?)
}

fn one(connection: &Connection, sql: &str, which: &[&str]) -> Result<Option<Found>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(rusqlite::params_from_iter(which))?;
    rows.next()?.map(read).transpose()
}

fn read(row: &Row<'_>) -> Result<Found> {
    Ok(Found {
        hold: row.get(2)?,
        booking: Booking {
            id: row.get(0)?,
            code: row.get(1)?,
            showing: row.get(3)?,
            seats: list(&row.get::<_, String>(4)?)?,
            tickets: list(&row.get::<_, String>(5)?)?,
            total_cents: row.get(6)?,
        },
    })
}

impl Found {
    /// The booking, if it is what this wish is about.
    fn answers(self, wish: &BookingWish) -> Option<Booking> {
        let Self { hold, booking } = self;
        let same =
            hold == wish.hold && booking.showing == wish.showing && booking.tickets == wish.tickets;
        same.then_some(booking)
    }
}
