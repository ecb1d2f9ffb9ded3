//! Errors of the cinema.

use super::MOST_SEATS;

#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error("movie {0:?} not found; /api/booking/movies lists all movies")]
    NoMovie(String),
    #[error("theater {0:?} not found; /api/booking/theaters lists all theaters")]
    NoTheater(String),
    #[error(
        "showing {0:?} not found; /api/booking/showings lists those of a movie, theater and day"
    )]
    NoShowing(String),
    #[error("this showing can no longer be booked; choose a later one")]
    Closed,
    #[error("`seats` must have 1 to {MOST_SEATS} seats, not {0}")]
    SeatCount(usize),
    #[error("the hall has no seat {}; see the seats of the showing", .0.join(", "))]
    NoSeats(Vec<String>),
    #[error("`seats` contains {0} twice")]
    SeatTwice(String),
    #[error("{} is already taken; choose other seats", .0.join(", "))]
    Taken(Vec<String>),
    #[error("the hold has expired or does not exist; hold the seats again")]
    HoldExpired,
    #[error("hold not found; it may have expired")]
    NoHold,
    #[error("too many seats are held; try again in {0} seconds")]
    TooManyHolds(u32),
    #[error("the hold is for another showing; hold seats of this one first")]
    OtherShowing,
    #[error("ticket type {0:?} not found; /api/booking/ticket-types lists them")]
    NoTicketType(String),
    #[error("{count} tickets for {seats} held seats; the numbers must be equal")]
    DoesNotFit { count: u64, seats: usize },
    #[error("this Idempotency-Key was used for another booking; use a new one")]
    OtherRequest,
    #[error("the seats of this hold are already booked with other tickets")]
    Already,
    #[error("booking not found")]
    NoBooking,
    #[error("this booking was cancelled; hold seats again to make a new one")]
    Cancelled,
    #[error("the showing has begun, so the booking can no longer be cancelled")]
    Begun,
    #[error("cinema not found; open one with POST /api/booking/cinemas")]
    NoCinema,
    #[error("too many cinemas are open; close one with DELETE /api/booking/cinemas/ID")]
    TooManyCinemas,
    #[error("this cinema has reached its limit of bookings; open another one")]
    TooManyBookings,
    #[error("`at` must be within 50 years from now")]
    BadTime,
    #[error(transparent)]
    Core(#[from] gangway_core::Error),
}
