//! Finding the cinema of a request: the shared one, or that of a study session with its own seats and clock.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp, civil::DateTime};

use super::{
    BoxOffice, Refusal,
    bookings::{CinemaOutcome, NewCinema, SHARED, StudyCinema},
    cinema::{Cinema, Movie, Showing, Theater},
    shown,
};
use gangway_core::secret::new_secret;

/// The largest clock shift in seconds; keeps dates within range.
const MOST_SHIFT: i64 = 50 * 366 * 24 * 3600;

pub(super) struct Venue {
    /// `SHARED`, or the cinema of a study session.
    pub(super) id: String,
    pub(super) cinema: Arc<Cinema>,
    pub(super) now: Timestamp,
    /// The cinema's local time.
    pub(super) local: DateTime,
}

#[derive(Debug, Clone)]
pub struct CinemaRequest {
    /// Defaults to the seed of the shared cinema.
    pub seed: Option<u32>,
    /// The initial time of its clock; now by default.
    pub at: Option<DateTime>,
    pub caller: String,
}

/// Cinemas with the same seed and time have the same program and free seats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CinemaOpened {
    /// Unguessable: knowing it is the right to use the cinema.
    pub id: String,
    pub seed: u32,
    pub at: DateTime,
}

impl BoxOffice {
    /// The cinema with this id, or the shared one.
    pub(super) async fn venue(&self, cinema: Option<&str>) -> Result<Venue, Refusal> {
        match cinema {
            // The store's key of the shared cinema is not a valid id.
            Some(SHARED) => Err(Refusal::NoCinema),
            id => self.venue_of(id.unwrap_or(SHARED)).await,
        }
    }

    pub(super) async fn venue_of(&self, id: &str) -> Result<Venue, Refusal> {
        let (now, local) = self.clock.now();
        if id == SHARED {
            return Ok(Venue {
                id: id.to_owned(),
                cinema: Arc::clone(&self.cinema),
                now,
                local,
            });
        }
        let found = self.store.cinema(id.to_owned(), now).await?;
        let StudyCinema { seed, shift } = found.ok_or(Refusal::NoCinema)?;
        let cinema = match seed == self.seed {
            true => Arc::clone(&self.cinema),
            false => Arc::new(Cinema::new(seed.into())),
        };
        let shifted = local.checked_add(SignedDuration::from_secs(shift));
        Ok(Venue {
            id: id.to_owned(),
            cinema,
            now,
            local: shifted.unwrap_or(local),
        })
    }

    /// Opens a cinema for a study session, with its own seats.
    pub async fn open_cinema(&self, request: CinemaRequest) -> Result<CinemaOpened, Refusal> {
        let (now, local) = self.clock.now();
        let seed = request.seed.unwrap_or(self.seed);
        let shift = request
            .at
            .map_or(0, |at| at.duration_since(local).as_secs());
        if shift.abs() > MOST_SHIFT {
            return Err(Refusal::BadTime);
        }
        let id = new_secret();
        let body = NewCinema {
            id: id.clone(),
            seed,
            shift,
            caller: request.caller,
        };
        let at = request.at.unwrap_or(local);
        let at = at.with().subsec_nanosecond(0).build().unwrap_or(at);
        match self.store.open_cinema(body, now).await? {
            CinemaOutcome::Open => Ok(CinemaOpened { id, seed, at }),
            CinemaOutcome::TooMany => Err(Refusal::TooManyCinemas),
        }
    }

    /// Closes the cinema of a study session with its holds and bookings.
    pub async fn close_cinema(&self, id: String) -> Result<(), Refusal> {
        let now = self.clock.now().0;
        match self.store.close_cinema(id, now).await? {
            true => Ok(()),
            false => Err(Refusal::NoCinema),
        }
    }
}

impl Venue {
    pub(super) fn movie(&self, id: &str) -> Result<&Movie, Refusal> {
        let movie = self.cinema.movie(id);
        movie.ok_or_else(|| Refusal::NoMovie(shown(id)))
    }

    pub(super) fn theater(&self, id: &str) -> Result<&Theater, Refusal> {
        let theater = self.cinema.theater(id);
        theater.ok_or_else(|| Refusal::NoTheater(shown(id)))
    }

    /// A showing, even if it is over.
    pub(super) fn showing(&self, id: &str) -> Result<Showing, Refusal> {
        let showing = self.cinema.showing(id, self.local);
        showing.ok_or_else(|| Refusal::NoShowing(shown(id)))
    }

    /// A showing that can still be booked.
    pub(super) fn open_showing(&self, id: &str) -> Result<Showing, Refusal> {
        let showing = self.showing(id)?;
        match showing.is_over(self.local) {
            true => Err(Refusal::Closed),
            false => Ok(showing),
        }
    }
}
