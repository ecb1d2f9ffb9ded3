//! Routes of the booking app: the program, holds on seats, bookings.

mod program;
mod tickets;

use std::sync::Arc;

use crate::Refusal;
use axum::http::StatusCode;
use gangway_http::{
    access::{Body, Scope, scope},
    auth::AppApi,
    error::ApiError,
    routes::Routes,
};

use crate::BoxOffice;

/// The booking app's pages also reach this API on their own host.
pub const APP_API: AppApi = AppApi {
    app: "movie-booking",
    prefix: "/api/booking",
};

/// Routes for the booking app and for other clients.
#[must_use]
pub fn routes() -> Routes<Arc<BoxOffice>> {
    Routes::new()
        .get("/api/booking/movies", scope(Scope::Apps), program::movies)
        .get(
            "/api/booking/theaters",
            scope(Scope::Apps),
            program::theaters,
        )
        .get("/api/booking/dates", scope(Scope::Apps), program::dates)
        .get(
            "/api/booking/showings",
            scope(Scope::Apps),
            program::showings,
        )
        .get(
            "/api/booking/showings/{id}/seats",
            scope(Scope::Apps),
            program::seats,
        )
        .get(
            "/api/booking/ticket-types",
            scope(Scope::Apps),
            program::ticket_types,
        )
        .post(
            "/api/booking/holds",
            scope(Scope::Apps).body(Body::Small),
            tickets::hold,
        )
        .delete(
            "/api/booking/holds/{id}",
            scope(Scope::Apps),
            tickets::release,
        )
        .post(
            "/api/booking/bookings",
            scope(Scope::Apps).body(Body::Small),
            tickets::book,
        )
        .get(
            "/api/booking/bookings/{id}",
            scope(Scope::Apps),
            tickets::show,
        )
        .delete(
            "/api/booking/bookings/{id}",
            scope(Scope::Apps),
            tickets::cancel,
        )
        .post(
            "/api/booking/cinemas",
            scope(Scope::Apps).body(Body::Small),
            tickets::open_cinema,
        )
        .delete(
            "/api/booking/cinemas/{id}",
            scope(Scope::Apps),
            tickets::close_cinema,
        )
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(
    program::movies,
    program::theaters,
    program::dates,
    program::showings,
    program::seats,
    program::ticket_types,
    tickets::hold,
    tickets::release,
    tickets::book,
    tickets::show,
    tickets::cancel,
    tickets::open_cinema,
    tickets::close_cinema,
))]
pub struct Documented;

fn refused(refusal: Refusal) -> ApiError {
    let message = refusal.to_string();
    let (status, code) = match refusal {
        Refusal::NoMovie(_) => (StatusCode::NOT_FOUND, "movie_not_found"),
        Refusal::NoTheater(_) => (StatusCode::NOT_FOUND, "theater_not_found"),
        Refusal::NoShowing(_) => (StatusCode::NOT_FOUND, "showing_not_found"),
        Refusal::NoHold => (StatusCode::NOT_FOUND, "hold_not_found"),
        Refusal::NoBooking => (StatusCode::NOT_FOUND, "booking_not_found"),
        Refusal::NoCinema => (StatusCode::NOT_FOUND, "cinema_not_found"),
        Refusal::Closed | Refusal::Begun => (StatusCode::CONFLICT, "showing_over"),
        Refusal::Cancelled => (StatusCode::CONFLICT, "booking_cancelled"),
        Refusal::Taken(_) => (StatusCode::CONFLICT, "seat_taken"),
        Refusal::HoldExpired => (StatusCode::CONFLICT, "hold_expired"),
        Refusal::Already => (StatusCode::CONFLICT, "already_booked"),
        Refusal::OtherRequest => (StatusCode::CONFLICT, "idempotency_key_reused"),
        Refusal::SeatCount(_) | Refusal::SeatTwice(_) | Refusal::BadTime => {
            (StatusCode::BAD_REQUEST, "invalid_request")
        }
        Refusal::NoSeats(_) => (StatusCode::BAD_REQUEST, "unknown_seat"),
        Refusal::OtherShowing => (StatusCode::BAD_REQUEST, "other_showing"),
        Refusal::NoTicketType(_) => (StatusCode::BAD_REQUEST, "unknown_ticket_type"),
        Refusal::DoesNotFit { .. } => (StatusCode::BAD_REQUEST, "tickets_do_not_fit"),
        Refusal::TooManyCinemas => (StatusCode::TOO_MANY_REQUESTS, "too_many_cinemas"),
        Refusal::TooManyBookings => (StatusCode::TOO_MANY_REQUESTS, "too_many_bookings"),
        Refusal::TooManyHolds(seconds) => {
            let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_holds", message);
            return error.retry_after(seconds);
        }
        Refusal::Core(error) => return error.into(),
    };
    ApiError::new(status, code, message)
}
