//! Routes of holds and bookings.

use std::{net::SocketAddr, sync::Arc};

use crate::{Booking, CinemaRequest, SeatRequest, TicketRequest};
use axum::{
    Extension, Json,
    extract::{ConnectInfo, State},
    http::{HeaderMap, StatusCode},
};
use gangway_http::{
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::{self, Id, idempotency_key},
};

use super::refused;
use crate::{
    BoxOffice,
    wire::{BookTickets, BookingInfo, CinemaInfo, HoldSeats, OpenCinema, SeatsHeld},
};

/// Hold seats for a while
///
/// All or nothing. With `holdId` they replace the seats of that hold, which keeps its seats on an error.
#[utoipa::path(post, path = "/api/booking/holds", tag = "booking", request_body = HoldSeats, responses(
    (status = 201, body = SeatsHeld),
    (status = 400, description = "`unknown_seat`, or no seats, or more than 10", body = ApiError),
    (status = 404, description = "`showing_not_found` or `cinema_not_found`", body = ApiError),
    (status = 409, description = "`seat_taken`, `hold_expired` or `showing_over`", body = ApiError),
    (status = 429, description = "`too_many_holds`", body = ApiError),
))]
pub(super) async fn hold(
    State(office): State<Arc<BoxOffice>>,
    Extension(admitted): Extension<Admitted>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    extract::Json(body): extract::Json<HoldSeats>,
) -> ApiResult<(StatusCode, Json<SeatsHeld>)> {
    let request = SeatRequest {
        cinema: body.cinema_id,
        showing: body.showing_id,
        seats: body.seats,
        replaces: body.hold_id,
        caller: caller(&admitted, peer),
    };
    let hold = office.hold(request).await.map_err(refused)?;
    let held = SeatsHeld {
        hold_id: hold.id,
        seats: hold.seats,
        expires_at: hold.until,
    };
    Ok((StatusCode::CREATED, Json(held)))
}

/// Release a hold
#[utoipa::path(delete, path = "/api/booking/holds/{id}", tag = "booking", params(
    ("id" = String, Path, description = "The hold"),
), responses(
    (status = 204, description = "The seats are free"),
    (status = 404, description = "`hold_not_found`", body = ApiError),
))]
pub(super) async fn release(
    State(office): State<Arc<BoxOffice>>,
    Id(id): Id,
) -> ApiResult<StatusCode> {
    office.release(id).await.map_err(refused)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Book the seats of a hold
///
/// Idempotent: the same request returns the same booking. It is on the disk before the response is sent.
#[utoipa::path(post, path = "/api/booking/bookings", tag = "booking", params(
    ("Idempotency-Key" = Option<String>, Header, description = "Idempotency key: a repeated request makes no second booking"),
), request_body = BookTickets, responses(
    (status = 201, body = BookingInfo),
    (status = 400, description = "`tickets_do_not_fit`, `unknown_ticket_type` or `other_showing`", body = ApiError),
    (status = 404, description = "`showing_not_found` or `cinema_not_found`", body = ApiError),
    (status = 409, description = "`hold_expired`, `showing_over`, `already_booked`, `booking_cancelled` or `idempotency_key_reused`", body = ApiError),
    (status = 429, description = "`too_many_bookings`", body = ApiError),
))]
pub(super) async fn book(
    State(office): State<Arc<BoxOffice>>,
    Extension(admitted): Extension<Admitted>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    extract::Json(body): extract::Json<BookTickets>,
) -> ApiResult<(StatusCode, Json<BookingInfo>)> {
    let request = TicketRequest {
        cinema: body.cinema_id,
        showing: body.showing_id,
        hold: body.hold_id,
        tickets: body.tickets,
        caller: caller(&admitted, peer),
        name: idempotency_key(&headers)?,
    };
    let booking = office.book(request).await.map_err(refused)?;
    Ok((StatusCode::CREATED, Json(info(booking))))
}

/// Show a booking
#[utoipa::path(get, path = "/api/booking/bookings/{id}", tag = "booking", params(
    ("id" = String, Path, description = "The booking"),
), responses(
    (status = 200, body = BookingInfo),
    (status = 404, description = "`booking_not_found`", body = ApiError),
))]
pub(super) async fn show(
    State(office): State<Arc<BoxOffice>>,
    Id(id): Id,
) -> ApiResult<Json<BookingInfo>> {
    let booking = office.booking(id).await.map_err(refused)?;
    Ok(Json(info(booking)))
}

/// Cancel a booking
///
/// Frees its seats. Idempotent.
#[utoipa::path(delete, path = "/api/booking/bookings/{id}", tag = "booking", params(
    ("id" = String, Path, description = "The booking"),
), responses(
    (status = 204, description = "Cancelled"),
    (status = 404, description = "`booking_not_found`", body = ApiError),
    (status = 409, description = "`showing_over`", body = ApiError),
))]
pub(super) async fn cancel(
    State(office): State<Arc<BoxOffice>>,
    Id(id): Id,
) -> ApiResult<StatusCode> {
    office.cancel(id).await.map_err(refused)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Open a cinema for a study session
///
/// It has its own holds and bookings, and is closed when it was not used for a week.
#[utoipa::path(post, path = "/api/booking/cinemas", tag = "booking", request_body = OpenCinema, responses(
    (status = 201, body = CinemaInfo),
    (status = 400, body = ApiError),
    (status = 429, description = "`too_many_cinemas`", body = ApiError),
))]
pub(super) async fn open_cinema(
    State(office): State<Arc<BoxOffice>>,
    Extension(admitted): Extension<Admitted>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    extract::Json(body): extract::Json<OpenCinema>,
) -> ApiResult<(StatusCode, Json<CinemaInfo>)> {
    let request = CinemaRequest {
        seed: body.seed,
        at: body.at,
        caller: caller(&admitted, peer),
    };
    let opened = office.open_cinema(request).await.map_err(refused)?;
    let info = CinemaInfo {
        cinema_id: opened.id,
        seed: opened.seed,
        at: opened.at,
    };
    Ok((StatusCode::CREATED, Json(info)))
}

/// Close the cinema of a study session
#[utoipa::path(delete, path = "/api/booking/cinemas/{id}", tag = "booking", params(
    ("id" = String, Path, description = "The cinema"),
), responses(
    (status = 204, description = "Closed, with its holds and bookings"),
    (status = 404, description = "`cinema_not_found`", body = ApiError),
))]
pub(super) async fn close_cinema(
    State(office): State<Arc<BoxOffice>>,
    Id(id): Id,
) -> ApiResult<StatusCode> {
    office.close_cinema(id).await.map_err(refused)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Identifies the caller for limits and idempotency: by API key, or else by address.
fn caller(admitted: &Admitted, peer: SocketAddr) -> String {
    match admitted.key() {
        Some(_) => admitted.caller(),
        None => format!("at:{}", peer.ip()),
    }
}

fn info(booking: Booking) -> BookingInfo {
    BookingInfo {
        booking_id: booking.id,
        code: booking.code,
        showing_id: booking.showing,
        seats: booking.seats,
        tickets: booking.tickets,
        total_cents: booking.total_cents,
        cancelled_at: booking.cancelled,
    }
}
