//! Which cinema is meant: the one that everybody shares, or that of a study session, with its own seats and clock.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp, civil::DateTime};

use super::{
    BoxOffice, Refusal,
    bookings::{CinemaWish, Opened, SHARED, StudyCinema},
    cinema::{Cinema, Movie, Showing, Theater},
    shown,
};
use gangway_core::secret::new_secret;

/// Seconds by which the clock of a cinema may differ: as old as a study may be, and no day that cannot be counted with.
const MOST_SHIFT: i64 = 50 * 366 * 24 * 3600;

/// A cinema, and what its clock shows.
pub(super) struct Venue {
    /// Its id; `SHARED` unless it is that of a study session.
    pub(super) id: String,
    pub(super) cinema: Arc<Cinema>,
    /// When it is.
    pub(super) now: Timestamp,
    /// What the clock in the hall shows.
    pub(super) local: DateTime,
}

/// A cinema that somebody wants for a study session.
#[derive(Debug, Clone)]
pub struct CinemaRequest {
    /// What decides its program; that of the shared cinema without it.
    pub seed: Option<u32>,
    /// What its clock shows at the beginning; the time that it is without it.
    pub at: Option<DateTime>,
    /// Who wants it.
    pub caller: String,
}

/// A cinema that was opened. Another one with the same seed and time has the same program and the same seats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CinemaOpened {
    /// Unguessable: knowing it is the right to use the cinema.
    pub id: String,
    /// What decides its program.
    pub seed: u32,
    /// What its clock shows.
    pub at: DateTime,
}

impl BoxOffice {
    /// The cinema with this id, or the shared one.
    pub(super) async fn venue(&self, cinema: Option<&str>) -> Result<Venue, Refusal> {
        match cinema {
            // The name of the shared one in the store is no id that anybody may send.
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
        let found = self.kept.cinema(id.to_owned(), now).await?;
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

    /// Opens a cinema for a study session: nobody else sees its seats.
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
        let wish = CinemaWish {
            id: id.clone(),
            seed,
            shift,
            caller: request.caller,
        };
        let at = request.at.unwrap_or(local);
        let at = at.with().subsec_nanosecond(0).build().unwrap_or(at);
        match self.kept.open_cinema(wish, now).await? {
            Opened::Open => Ok(CinemaOpened { id, seed, at }),
            Opened::TooMany => Err(Refusal::TooManyCinemas),
        }
    }

    /// Closes the cinema of a study session: its holds and bookings are gone.
    pub async fn close_cinema(&self, id: String) -> Result<(), Refusal> {
        let now = self.clock.now().0;
        match self.kept.close_cinema(id, now).await? {
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

    /// A showing, whether it is over or not.
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
