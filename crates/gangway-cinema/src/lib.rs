//! The booking app's cinema: a program computed from a seed, and stored holds and bookings.

mod bookings;
pub mod cinema;
mod clock;
mod config;
mod dice;
pub mod hall;
mod refusal;
mod repertoire;
pub mod routes;
#[cfg(test)]
mod tests;
mod venue;
pub mod wire;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
    time::Duration,
};

use jiff::civil::Date;
use rand::RngExt;

use self::{
    bookings::{BookingRequest, Bookings, Claim, HoldLimits, HoldRequest, HoldResult, Sale},
    cinema::{Cinema, Movie, Showing, Theater},
    clock::Clock,
    hall::Seat,
};
pub use bookings::{Booking, Hold};
pub use config::BookingConfig;
use gangway_core::secret::new_secret;
pub use refusal::Refusal;
pub use venue::{CinemaOpened, CinemaRequest};

/// Seats in one hold: more than a family.
pub const MOST_SEATS: usize = 10;

/// A hold whose seats are replaced is extended, up to this many times its normal life, so that no one can keep seats for ever.
const LIVES: u32 = 6;

/// One caller can have at most this fraction of all holds.
const SHARE: usize = 5;

/// Letters of booking codes, without those that are easily confused when read out.
const CODE_LETTERS: &[u8] = b"ABCDEFGHJKLMNPQRTUVWXY346789";
const CODE_LENGTH: usize = 6;

/// Attempts to find an unused code.
const CODES: usize = 8;

pub struct BoxOffice {
    cinema: Arc<Cinema>,
    seed: u32,
    store: Bookings,
    clock: Clock,
    limits: HoldLimits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Free,
    /// Held by someone else, not booked yet.
    Held,
    /// Booked by someone else.
    Taken,
    /// Held by the caller.
    Mine,
}

pub struct SeatMap {
    /// From the screen to the back.
    pub rows: Vec<char>,
    /// Row by row.
    pub seats: Vec<(Seat, Status)>,
}

#[derive(Debug, Clone)]
pub struct SeatRequest {
    /// The cinema of a study session, if any.
    pub cinema: Option<String>,
    pub showing: String,
    pub seats: Vec<String>,
    /// The hold whose seats these replace.
    pub replaces: Option<String>,
    pub caller: String,
}

#[derive(Debug, Clone)]
pub struct TicketRequest {
    /// The cinema of a study session, if any.
    pub cinema: Option<String>,
    pub showing: String,
    pub hold: String,
    pub tickets: BTreeMap<String, u32>,
    pub caller: String,
    /// The idempotency key.
    pub name: Option<String>,
}

impl BoxOffice {
    #[must_use]
    pub fn new(config: &BookingConfig, data: &Path) -> Self {
        let keep = Duration::from_secs(config.hold_seconds.into());
        let holds = usize::try_from(config.max_holds).unwrap_or(usize::MAX);
        Self {
            cinema: Arc::new(Cinema::new(config.seed.into())),
            seed: config.seed,
            store: Bookings::at(data.join("booking.db")),
            clock: Clock::new(),
            limits: HoldLimits {
                keep,
                life: keep * LIVES,
                holds,
                per_caller: holds.div_ceil(SHARE),
            },
        }
    }

    pub async fn movies(&self, cinema: Option<&str>) -> Result<Vec<Movie>, Refusal> {
        let venue = self.venue(cinema).await?;
        Ok(venue.cinema.movies().to_vec())
    }

    /// All theaters, or those that show a movie.
    pub async fn theaters(
        &self,
        cinema: Option<&str>,
        movie: Option<&str>,
    ) -> Result<Vec<Theater>, Refusal> {
        let venue = self.venue(cinema).await?;
        let movie = movie.map(|id| venue.movie(id)).transpose()?;
        let shows = |theater: &&Theater| movie.is_none_or(|one| venue.cinema.shows(theater, one));
        let theaters = venue.cinema.theaters().iter().filter(shows);
        Ok(theaters.cloned().collect())
    }

    /// The days on which a movie is shown in a theater.
    pub async fn dates(
        &self,
        cinema: Option<&str>,
        movie: &str,
        theater: &str,
    ) -> Result<Vec<Date>, Refusal> {
        let venue = self.venue(cinema).await?;
        let (movie, theater) = (venue.movie(movie)?, venue.theater(theater)?);
        Ok(venue.cinema.dates(movie, theater, venue.local))
    }

    /// Showings of a movie in a theater on a day, each with its number of free seats.
    pub async fn showings(
        &self,
        cinema: Option<&str>,
        movie: &str,
        theater: &str,
        date: Date,
    ) -> Result<Vec<(Showing, usize)>, Refusal> {
        let venue = self.venue(cinema).await?;
        let (movie, theater) = (venue.movie(movie)?, venue.theater(theater)?);
        let showings = venue.cinema.showings(movie, theater, date, venue.local);
        let ids = showings.iter().map(|one| one.id.clone()).collect();
        let claims = self.store.claims(venue.id.clone(), ids, venue.now).await?;
        let left = showings.into_iter().map(|one| {
            let none = Vec::new();
            let claims = claims.get(&one.id).unwrap_or(&none);
            let mut gone = venue.cinema.taken(&one);
            gone.extend(claims.iter().map(|claim| claim.seat.clone()));
            let left = one.hall.seats().len().saturating_sub(gone.len());
            (one, left)
        });
        Ok(left.collect())
    }

    /// A showing that can still be booked.
    pub async fn showing(&self, cinema: Option<&str>, id: &str) -> Result<Showing, Refusal> {
        self.venue(cinema).await?.open_showing(id)
    }

    /// The seats of a showing, as the owner of this hold sees them.
    pub async fn seats(
        &self,
        cinema: Option<&str>,
        showing: &str,
        hold: Option<&str>,
    ) -> Result<SeatMap, Refusal> {
        let venue = self.venue(cinema).await?;
        let showing = venue.open_showing(showing)?;
        let of = vec![showing.id.clone()];
        let mut claims = self.store.claims(venue.id.clone(), of, venue.now).await?;
        let claims = claims.remove(&showing.id).unwrap_or_default();
        let taken = venue.cinema.taken(&showing);
        let seats = showing.hall.seats().into_iter().map(|seat| {
            let status = status(&seat.id, &taken, &claims, hold);
            (seat, status)
        });
        Ok(SeatMap {
            rows: showing.hall.rows().collect(),
            seats: seats.collect(),
        })
    }

    /// Holds seats for a while: all or nothing.
    pub async fn hold(&self, request: SeatRequest) -> Result<Hold, Refusal> {
        let venue = self.venue(request.cinema.as_deref()).await?;
        let showing = venue.showing(&request.showing)?;
        if !showing.is_sold(venue.local) {
            return Err(Refusal::Closed);
        }
        check_seats(&showing, &request.seats)?;
        let taken = venue.cinema.taken(&showing);
        let gone: Vec<_> = request
            .seats
            .iter()
            .filter(|seat| taken.contains(*seat))
            .collect();
        if !gone.is_empty() {
            return Err(Refusal::Taken(gone.into_iter().cloned().collect()));
        }
        let request = HoldRequest {
            id: new_secret(),
            replaces: request.replaces,
            cinema: venue.id,
            showing: request.showing,
            seats: request.seats,
            caller: request.caller,
        };
        let now = venue.now;
        match self.store.hold(request, self.limits, now).await? {
            HoldResult::Kept(hold) => Ok(hold),
            HoldResult::Taken(seats) => Err(Refusal::Taken(seats)),
            HoldResult::Expired => Err(Refusal::HoldExpired),
            HoldResult::TooMany(until) => {
                let wait = until.as_second().saturating_sub(now.as_second()).max(1);
                Err(Refusal::TooManyHolds(u32::try_from(wait).unwrap_or(1)))
            }
        }
    }

    pub async fn release(&self, hold: String) -> Result<(), Refusal> {
        let now = self.clock.now().0;
        match self.store.release(hold, now).await? {
            true => Ok(()),
            false => Err(Refusal::NoHold),
        }
    }

    /// Books the seats of a hold; idempotent.
    pub async fn book(&self, request: TicketRequest) -> Result<Booking, Refusal> {
        let venue = self.venue(request.cinema.as_deref()).await?;
        let showing = venue.showing(&request.showing)?;
        let (tickets, total_cents) = priced(&showing, request.tickets)?;
        let count: u64 = tickets.values().map(|count| u64::from(*count)).sum();
        let mut request = BookingRequest {
            id: new_secret(),
            code: String::new(),
            hold: request.hold,
            cinema: venue.id,
            showing: request.showing,
            tickets,
            total_cents,
            open: !showing.is_over(venue.local),
            caller: request.caller,
            name: request.name,
        };
        for _ in 0..CODES {
            request.code = new_code();
            match self.store.book(request.clone(), venue.now).await? {
                Sale::Booked(booking) => return Ok(booking),
                Sale::CodeTaken => {}
                Sale::Expired => return Err(Refusal::HoldExpired),
                Sale::Closed => return Err(Refusal::Closed),
                Sale::OtherShowing => return Err(Refusal::OtherShowing),
                Sale::DoesNotFit(seats) => return Err(Refusal::DoesNotFit { count, seats }),
                Sale::OtherRequest => return Err(Refusal::OtherRequest),
                Sale::Already => return Err(Refusal::Already),
                Sale::Cancelled => return Err(Refusal::Cancelled),
                Sale::TooMany => return Err(Refusal::TooManyBookings),
            }
        }
        let message = "no code for a booking is free".to_owned();
        Err(gangway_core::Error::Storage(message).into())
    }

    pub async fn booking(&self, id: String) -> Result<Booking, Refusal> {
        self.store.find(id).await?.ok_or(Refusal::NoBooking)
    }

    /// Cancels a booking unless its showing has begun; idempotent.
    pub async fn cancel(&self, id: String) -> Result<(), Refusal> {
        let booking = self.booking(id.clone()).await?;
        if booking.cancelled.is_some() {
            return Ok(());
        }
        let venue = match self.venue_of(&booking.cinema).await {
            // Pruned since it was found, and the booking with it.
            Err(Refusal::NoCinema) => return Err(Refusal::NoBooking),
            venue => venue?,
        };
        // A showing that is not in the program of the current seed can be cancelled.
        let over = venue.showing(&booking.showing);
        if over.is_ok_and(|showing| showing.is_over(venue.local)) {
            return Err(Refusal::Begun);
        }
        match self.store.cancel(id, venue.now).await? {
            true => Ok(()),
            false => Err(Refusal::NoBooking),
        }
    }
}

fn status(seat: &str, taken: &BTreeSet<String>, claims: &[Claim], hold: Option<&str>) -> Status {
    match claims.iter().find(|claim| claim.seat == seat) {
        _ if taken.contains(seat) => Status::Taken,
        None => Status::Free,
        Some(Claim { hold: None, .. }) => Status::Taken,
        Some(claim) if claim.hold.as_deref() == hold => Status::Mine,
        Some(_) => Status::Held,
    }
}

fn check_seats(showing: &Showing, seats: &[String]) -> Result<(), Refusal> {
    if seats.is_empty() || seats.len() > MOST_SEATS {
        return Err(Refusal::SeatCount(seats.len()));
    }
    let there: BTreeSet<_> = showing
        .hall
        .seats()
        .into_iter()
        .map(|seat| seat.id)
        .collect();
    let unknown = seats.iter().filter(|seat| !there.contains(*seat));
    let unknown: Vec<_> = unknown.map(|seat| shown(seat)).collect();
    if !unknown.is_empty() {
        return Err(Refusal::NoSeats(unknown));
    }
    let mut seen = BTreeSet::new();
    match seats.iter().find(|seat| !seen.insert(*seat)) {
        Some(twice) => Err(Refusal::SeatTwice(twice.clone())),
        None => Ok(()),
    }
}

/// The tickets with a count above zero, and their price.
fn priced(
    showing: &Showing,
    tickets: BTreeMap<String, u32>,
) -> Result<(BTreeMap<String, u32>, u64), Refusal> {
    let kinds = showing.ticket_types();
    let mut total = 0_u64;
    for (id, count) in &tickets {
        let kind = kinds.iter().find(|kind| kind.id == id);
        let kind = kind.ok_or_else(|| Refusal::NoTicketType(shown(id)))?;
        total = total.saturating_add(kind.price_cents.saturating_mul((*count).into()));
    }
    let some = tickets.into_iter().filter(|(_, count)| *count > 0);
    Ok((some.collect(), total))
}

fn new_code() -> String {
    let mut dice = rand::rng();
    let letter = || char::from(CODE_LETTERS[dice.random_range(..CODE_LETTERS.len())]);
    std::iter::repeat_with(letter).take(CODE_LENGTH).collect()
}

/// Caller-supplied text, truncated for an error message.
fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}
