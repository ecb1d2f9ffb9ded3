//! Why something cannot be had.

use super::MOST_SEATS;

/// Why something cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// No such movie.
    #[error("there is no movie {0:?}; /api/booking/movies lists them")]
    NoMovie(String),
    /// No such theater.
    #[error("there is no theater {0:?}; /api/booking/theaters lists them")]
    NoTheater(String),
    /// No such showing.
    #[error(
        "there is no showing {0:?}; /api/booking/showings lists those of a movie, theater and day"
    )]
    NoShowing(String),
    /// It begins, or has begun.
    #[error("this showing begins or has begun, so it can no longer be booked; choose a later one")]
    Closed,
    /// No seats, or too many.
    #[error("`seats` names {0} seats; choose 1 to {MOST_SEATS}")]
    SeatCount(usize),
    /// No such seats in the hall.
    #[error("the hall has no seat {}; the seats of the showing are listed with it", .0.join(", "))]
    NoSeats(Vec<String>),
    /// A seat that was named twice.
    #[error("`seats` names {0} twice")]
    SeatTwice(String),
    /// Somebody else has them.
    #[error("somebody else has {}; choose other seats", .0.join(", "))]
    Taken(Vec<String>),
    /// The time of a hold is over, or there never was one.
    #[error("the hold is over or not known, so the seats are no longer kept; hold them again")]
    HoldExpired,
    /// There is no hold to let go of.
    #[error("there is no such hold; it may be over")]
    NoHold,
    /// As many holds as there may be.
    #[error("too many seats are held at once; one is free again in {0} seconds at the latest")]
    TooManyHolds(u32),
    /// The hold is for another showing.
    #[error("the hold is for another showing; hold seats of this one first")]
    OtherShowing,
    /// No such ticket.
    #[error("there is no ticket {0:?}; /api/booking/ticket-types lists them")]
    NoTicketType(String),
    /// Not a ticket for every seat.
    #[error("there are {count} tickets for {seats} held seats; both must be as many")]
    DoesNotFit {
        /// The tickets.
        count: u64,
        /// The seats.
        seats: usize,
    },
    /// The name of the request was used for another.
    #[error("this Idempotency-Key was used for another booking; use a new one")]
    OtherRequest,
    /// The hold was booked with other tickets.
    #[error("the seats of this hold are booked already, with other tickets")]
    Already,
    /// There is no such booking.
    #[error("there is no such booking")]
    NoBooking,
    /// The same request made a booking that was cancelled.
    #[error("this booking was made and cancelled; hold seats again to book anew")]
    Cancelled,
    /// The showing of a booking has begun.
    #[error("the showing has begun, so the booking can no longer be cancelled")]
    Begun,
    /// There is no such cinema of a study session.
    #[error("there is no such cinema; open one with POST /api/booking/cinemas")]
    NoCinema,
    /// As many cinemas as there may be.
    #[error("too many cinemas are open; close one with DELETE /api/booking/cinemas/ID")]
    TooManyCinemas,
    /// As many bookings as the cinema of a study session may have.
    #[error("this cinema has as many bookings as it may have; open another one")]
    TooManyBookings,
    /// A clock that cannot be set like this.
    #[error("`at` is more than 50 years away from now")]
    BadTime,
    /// The store failed.
    #[error(transparent)]
    Core(#[from] gangway_core::Error),
}
