//! The door of the booking app: what can be seen, seats that are held, tickets that are booked.

mod program;
mod tickets;
pub mod wire;

use std::sync::Arc;

use axum::http::StatusCode;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{booking::Refusal, error::ApiError, server::App};

/// Routes for the booking app and for whoever books without it.
pub fn documented() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(program::movies))
        .routes(routes!(program::theaters))
        .routes(routes!(program::dates))
        .routes(routes!(program::showings))
        .routes(routes!(program::seats))
        .routes(routes!(program::ticket_types))
        .routes(routes!(tickets::hold))
        .routes(routes!(tickets::release))
        .routes(routes!(tickets::book))
        .routes(routes!(tickets::show))
}

fn refused(refusal: Refusal) -> ApiError {
    let message = refusal.to_string();
    let (status, code) = match refusal {
        Refusal::NoMovie(_) => (StatusCode::NOT_FOUND, "movie_not_found"),
        Refusal::NoTheater(_) => (StatusCode::NOT_FOUND, "theater_not_found"),
        Refusal::NoShowing(_) => (StatusCode::NOT_FOUND, "showing_not_found"),
        Refusal::NoHold => (StatusCode::NOT_FOUND, "hold_not_found"),
        Refusal::NoBooking => (StatusCode::NOT_FOUND, "booking_not_found"),
        Refusal::Closed => (StatusCode::CONFLICT, "showing_over"),
        Refusal::Taken(_) => (StatusCode::CONFLICT, "seat_taken"),
        Refusal::HoldExpired => (StatusCode::CONFLICT, "hold_expired"),
        Refusal::Already => (StatusCode::CONFLICT, "already_booked"),
        Refusal::OtherRequest => (StatusCode::CONFLICT, "idempotency_key_reused"),
        Refusal::SeatCount(_) | Refusal::SeatTwice(_) => {
            (StatusCode::BAD_REQUEST, "invalid_request")
        }
        Refusal::NoSeats(_) => (StatusCode::BAD_REQUEST, "unknown_seat"),
        Refusal::OtherShowing => (StatusCode::BAD_REQUEST, "other_showing"),
        Refusal::NoTicketType(_) => (StatusCode::BAD_REQUEST, "unknown_ticket_type"),
        Refusal::DoesNotFit { .. } => (StatusCode::BAD_REQUEST, "tickets_do_not_fit"),
        Refusal::TooManyHolds(seconds) => {
            let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_holds", message);
            return error.retry_after(seconds);
        }
        Refusal::Core(error) => return error.into(),
    };
    ApiError::new(status, code, message)
}
