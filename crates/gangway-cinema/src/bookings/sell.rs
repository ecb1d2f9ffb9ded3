//! Turning holds into bookings.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::{Booking, BookingRequest, SHARED, Sale, list, text};
use gangway_core::Result;

/// How long a booking is kept: showings are at most two weeks ahead, and it can be looked up for some time after.
const KEPT: SignedDuration = SignedDuration::from_hours(60 * 24);

/// Bookings in the cinema of one study session; more than any participant makes.
const MOST_IN_STUDY: usize = 100;

struct ExistingBooking {
    hold: String,
    booking: Booking,
}

const FIELDS: &str =
    "SELECT id, code, hold, showing, seats, tickets, total_cents, cinema, cancelled FROM bookings";

/// Removes old bookings.
pub(super) fn sweep(tables: &Transaction<'_>, now: Timestamp) -> Result<()> {
    let before = now.as_millisecond().saturating_sub(millis(KEPT));
    tables.execute(
        "DELETE FROM seats WHERE booking IN (SELECT id FROM bookings WHERE made <= ?1)",
        [before],
    )?;
    tables.execute("DELETE FROM bookings WHERE made <= ?1", [before])?;
    Ok(())
}

fn millis(time: SignedDuration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// Returns the result, and whether anything changed.
pub(super) fn book(
    tables: &Transaction<'_>,
    request: &BookingRequest,
    now: Timestamp,
) -> Result<(Sale, bool)> {
    let by_name = format!("{FIELDS} WHERE caller = ?1 AND name = ?2");
    if let Some(name) = &request.name
        && let Some(found) = one(tables, &by_name, &[&request.caller, name])?
    {
        let same = found.answers(request);
        return Ok((same.map_or(Sale::OtherRequest, already_booked), false));
    }
    let by_hold = format!("{FIELDS} WHERE hold = ?1");
    if let Some(found) = one(tables, &by_hold, &[&request.hold])? {
        let same = found.answers(request);
        return Ok((same.map_or(Sale::Already, already_booked), false));
    }
    if !request.open {
        return Ok((Sale::Closed, false));
    }
    let sql = "SELECT showing FROM holds WHERE id = ?1 AND cinema = ?2";
    let showing: Option<String> = tables
        .query_row(sql, [&request.hold, &request.cinema], |row| row.get(0))
        .optional()?;
    match showing {
        None => return Ok((Sale::Expired, false)),
        Some(showing) if showing != request.showing => return Ok((Sale::OtherShowing, false)),
        Some(_) => {}
    }
    let seats = seats_of(tables, &request.hold)?;
    let wanted: u64 = request
        .tickets
        .values()
        .map(|count| u64::from(*count))
        .sum();
    if wanted != seats.len() as u64 {
        return Ok((Sale::DoesNotFit(seats.len()), false));
    }
    if request.cinema != SHARED {
        let sql = "SELECT count(*) FROM bookings WHERE cinema = ?1";
        let count: usize = tables.query_row(sql, [&request.cinema], |row| row.get(0))?;
        if count >= MOST_IN_STUDY {
            return Ok((Sale::TooMany, false));
        }
    }
    let sql = "SELECT 1 FROM bookings WHERE code = ?1";
    if tables.prepare(sql)?.exists([&request.code])? {
        return Ok((Sale::CodeTaken, false));
    }
    let booking = Booking {
        id: request.id.clone(),
        code: request.code.clone(),
        cinema: request.cinema.clone(),
        showing: request.showing.clone(),
        seats,
        tickets: request.tickets.clone(),
        total_cents: request.total_cents,
        cancelled: None,
    };
    tables.execute(
        "INSERT INTO bookings (id, code, hold, showing, seats, tickets, total_cents, caller, name, made, cinema)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        params![
            booking.id,
            booking.code,
            request.hold,
            booking.showing,
            text(&booking.seats)?,
            text(&booking.tickets)?,
            booking.total_cents,
            request.caller,
            request.name,
            now.as_millisecond(),
            request.cinema,
        ],
    )?;
    let sql = "UPDATE seats SET booking = ?1, hold = NULL WHERE hold = ?2";
    tables.execute(sql, [&booking.id, &request.hold])?;
    tables.execute("DELETE FROM holds WHERE id = ?1", [&request.hold])?;
    Ok((Sale::Booked(booking), true))
}

/// The response to a request that made a booking before.
fn already_booked(booking: Booking) -> Sale {
    match booking.cancelled {
        Some(_) => Sale::Cancelled,
        None => Sale::Booked(booking),
    }
}

/// Returns whether the booking exists, and whether anything changed; idempotent.
pub(super) fn cancel(tables: &Transaction<'_>, id: &str, now: Timestamp) -> Result<(bool, bool)> {
    let sql = "UPDATE bookings SET cancelled = ?2 WHERE id = ?1 AND cancelled IS NULL";
    if tables.execute(sql, params![id, now.as_millisecond()])? > 0 {
        tables.execute("DELETE FROM seats WHERE booking = ?1", [id])?;
        return Ok((true, true));
    }
    let sql = "SELECT 1 FROM bookings WHERE id = ?1";
    Ok((tables.prepare(sql)?.exists([id])?, false))
}

pub(super) fn find(connection: &Connection, id: &str) -> Result<Option<Booking>> {
    let found = one(connection, &format!("{FIELDS} WHERE id = ?1"), &[id])?;
    Ok(found.map(|found| found.booking))
}

fn seats_of(tables: &Transaction<'_>, hold: &str) -> Result<Vec<String>> {
    // By row, and 2 before 10.
    let sql =
        "SELECT seat FROM seats WHERE hold = ?1 ORDER BY substr(seat, 1, 1), length(seat), seat";
    let mut statement = tables.prepare_cached(sql)?;
    let seats = statement.query_map([hold], |row| row.get(0))?;
    Ok(seats.collect::<rusqlite::Result<_>>()?)
}

fn one(connection: &Connection, sql: &str, which: &[&str]) -> Result<Option<ExistingBooking>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(rusqlite::params_from_iter(which))?;
    rows.next()?.map(read).transpose()
}

fn read(row: &Row<'_>) -> Result<ExistingBooking> {
    Ok(ExistingBooking {
        hold: row.get(2)?,
        booking: Booking {
            id: row.get(0)?,
            code: row.get(1)?,
            showing: row.get(3)?,
            seats: list(&row.get::<_, String>(4)?)?,
            tickets: list(&row.get::<_, String>(5)?)?,
            total_cents: row.get(6)?,
            cinema: row.get(7)?,
            cancelled: row
                .get::<_, Option<i64>>(8)?
                .and_then(|at| Timestamp::from_millisecond(at).ok()),
        },
    })
}

impl ExistingBooking {
    /// The booking, if it is the one this request is about.
    fn answers(self, request: &BookingRequest) -> Option<Booking> {
        let Self { hold, booking } = self;
        let same = hold == request.hold
            && booking.showing == request.showing
            && booking.tickets == request.tickets;
        same.then_some(booking)
    }
}
