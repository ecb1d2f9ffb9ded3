//! Routes of the program: movies, theaters, showings, seats.

use std::sync::Arc;

use crate::{
    Status,
    cinema::{Movie, Showing, Theater, TicketType},
    hall::{Kind, Seat},
};
use axum::{Json, extract::State};
use gangway_http::{
    error::{ApiError, ApiResult},
    extract::{Id, Query},
};
use jiff::civil::Date;
use serde::Deserialize;

use super::refused;
use crate::{
    BoxOffice,
    wire::{
        DateList, MovieInfo, MovieList, SeatInfo, SeatKind, SeatList, SeatStatus, ShowingInfo,
        ShowingList, TheaterInfo, TheaterList, TicketTypeInfo, TicketTypeList,
    },
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct InCinema {
    cinema_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct OfMovie {
    cinema_id: Option<String>,
    movie_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct InTheater {
    cinema_id: Option<String>,
    movie_id: String,
    theater_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct OnDay {
    cinema_id: Option<String>,
    movie_id: String,
    theater_id: String,
    date: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WithHold {
    cinema_id: Option<String>,
    hold_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct OfShowing {
    cinema_id: Option<String>,
    showing_id: String,
}

/// List the movies
#[utoipa::path(get, path = "/api/booking/movies", tag = "booking", params(
    ("cinemaId" = Option<String>, Query, description = "The cinema of a study session (default: the shared one)"),
), responses((status = 200, body = MovieList), (status = 404, description = "`cinema_not_found`", body = ApiError)))]
pub(super) async fn movies(
    State(office): State<Arc<BoxOffice>>,
    Query(of): Query<InCinema>,
) -> ApiResult<Json<MovieList>> {
    let found = office.movies(of.cinema_id.as_deref()).await;
    let movies = found.map_err(refused)?.iter().map(movie).collect();
    Ok(Json(MovieList { movies }))
}

/// List the theaters that show a movie
#[utoipa::path(get, path = "/api/booking/theaters", tag = "booking", params(
    ("movieId" = Option<String>, Query, description = "The movie (default: theaters of all movies)"),
    ("cinemaId" = Option<String>, Query, description = "The cinema of a study session (default: the shared one)"),
), responses((status = 200, body = TheaterList), (status = 404, description = "`movie_not_found` or `cinema_not_found`", body = ApiError)))]
pub(super) async fn theaters(
    State(office): State<Arc<BoxOffice>>,
    Query(of): Query<OfMovie>,
) -> ApiResult<Json<TheaterList>> {
    let found = office.theaters(of.cinema_id.as_deref(), of.movie_id.as_deref());
    let found = found.await.map_err(refused)?;
    let theaters = found.iter().map(theater).collect();
    Ok(Json(TheaterList { theaters }))
}

/// List the days on which a movie can be seen in a theater
#[utoipa::path(get, path = "/api/booking/dates", tag = "booking", params(
    ("movieId" = String, Query, description = "The movie"),
    ("theaterId" = String, Query, description = "The theater"),
    ("cinemaId" = Option<String>, Query, description = "The cinema of a study session (default: the shared one)"),
), responses(
    (status = 200, body = DateList),
    (status = 400, body = ApiError),
    (status = 404, description = "`movie_not_found`, `theater_not_found` or `cinema_not_found`", body = ApiError),
))]
pub(super) async fn dates(
    State(office): State<Arc<BoxOffice>>,
    Query(of): Query<InTheater>,
) -> ApiResult<Json<DateList>> {
    let dates = office.dates(of.cinema_id.as_deref(), &of.movie_id, &of.theater_id);
    let dates = dates.await.map_err(refused)?;
    Ok(Json(DateList { dates }))
}

/// List the showings of a movie in a theater on a day
#[utoipa::path(get, path = "/api/booking/showings", tag = "booking", params(
    ("movieId" = String, Query, description = "The movie"),
    ("theaterId" = String, Query, description = "The theater"),
    ("date" = String, Query, description = "The day, as 2026-11-16"),
    ("cinemaId" = Option<String>, Query, description = "The cinema of a study session (default: the shared one)"),
), responses(
    (status = 200, body = ShowingList),
    (status = 400, body = ApiError),
    (status = 404, description = "`movie_not_found`, `theater_not_found` or `cinema_not_found`", body = ApiError),
))]
pub(super) async fn showings(
    State(office): State<Arc<BoxOffice>>,
    Query(of): Query<OnDay>,
) -> ApiResult<Json<ShowingList>> {
    let date = day(&of.date)?;
    let cinema = of.cinema_id.as_deref();
    let found = office.showings(cinema, &of.movie_id, &of.theater_id, date);
    let showings = found.await.map_err(refused)?.into_iter();
    let showings = showings.map(|(one, left)| showing(one, left)).collect();
    Ok(Json(ShowingList { showings }))
}

/// List the seats of a showing
#[utoipa::path(get, path = "/api/booking/showings/{id}/seats", tag = "booking", params(
    ("id" = String, Path, description = "The showing"),
    ("holdId" = Option<String>, Query, description = "A hold; its seats are `mine`"),
    ("cinemaId" = Option<String>, Query, description = "The cinema of a study session (default: the shared one)"),
), responses(
    (status = 200, body = SeatList),
    (status = 404, description = "`showing_not_found` or `cinema_not_found`", body = ApiError),
    (status = 409, description = "`showing_over`", body = ApiError),
))]
pub(super) async fn seats(
    State(office): State<Arc<BoxOffice>>,
    Id(id): Id,
    Query(with): Query<WithHold>,
) -> ApiResult<Json<SeatList>> {
    let (cinema, hold) = (with.cinema_id.as_deref(), with.hold_id.as_deref());
    let map = office.seats(cinema, &id, hold).await;
    let map = map.map_err(refused)?;
    Ok(Json(SeatList {
        rows: map.rows.iter().map(char::to_string).collect(),
        seats: map.seats.into_iter().map(seat).collect(),
    }))
}

/// List the ticket types for a showing
#[utoipa::path(get, path = "/api/booking/ticket-types", tag = "booking", params(
    ("showingId" = String, Query, description = "The showing"),
    ("cinemaId" = Option<String>, Query, description = "The cinema of a study session (default: the shared one)"),
), responses(
    (status = 200, body = TicketTypeList),
    (status = 400, body = ApiError),
    (status = 404, description = "`showing_not_found` or `cinema_not_found`", body = ApiError),
    (status = 409, description = "`showing_over`", body = ApiError),
))]
pub(super) async fn ticket_types(
    State(office): State<Arc<BoxOffice>>,
    Query(of): Query<OfShowing>,
) -> ApiResult<Json<TicketTypeList>> {
    let showing = office.showing(of.cinema_id.as_deref(), &of.showing_id);
    let showing = showing.await.map_err(refused)?;
    let ticket_types = showing.ticket_types().into_iter().map(ticket_type);
    Ok(Json(TicketTypeList {
        ticket_types: ticket_types.collect(),
    }))
}

fn day(text: &str) -> ApiResult<Date> {
    let date = text.parse::<Date>().ok();
    date.filter(|date| date.to_string() == text)
        .ok_or_else(|| ApiError::invalid("`date` must be a day such as 2026-11-16"))
}

fn movie(movie: &Movie) -> MovieInfo {
    MovieInfo {
        id: movie.id.to_owned(),
        title: movie.title.to_owned(),
        genre: movie.genre.to_owned(),
        minutes: movie.minutes,
        rating: tenths(movie.rating),
        synopsis: movie.synopsis.to_owned(),
    }
}

fn theater(theater: &Theater) -> TheaterInfo {
    TheaterInfo {
        id: theater.id.to_owned(),
        name: theater.name.to_owned(),
        address: theater.address.clone(),
        distance_km: tenths(theater.distance),
    }
}

fn tenths(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX)) / 10.0
}

fn showing(showing: Showing, seats_left: usize) -> ShowingInfo {
    ShowingInfo {
        id: showing.id,
        time: showing.begins.strftime("%H:%M").to_string(),
        hall: format!("Hall {}", showing.hall.number),
        format: showing.hall.format.to_owned(),
        price_cents: showing.price_cents,
        seats_left,
    }
}

fn seat((seat, status): (Seat, Status)) -> SeatInfo {
    SeatInfo {
        id: seat.id,
        row: seat.row.to_string(),
        number: seat.number,
        kind: match seat.kind {
            Kind::Standard => SeatKind::Standard,
            Kind::Premium => SeatKind::Premium,
            Kind::Accessible => SeatKind::Accessible,
        },
        status: match status {
            Status::Free => SeatStatus::Free,
            Status::Held => SeatStatus::Held,
            Status::Taken => SeatStatus::Taken,
            Status::Mine => SeatStatus::Mine,
        },
    }
}

fn ticket_type(kind: TicketType) -> TicketTypeInfo {
    TicketTypeInfo {
        id: kind.id.to_owned(),
        name: kind.name.to_owned(),
        description: kind.description.to_owned(),
        price_cents: kind.price_cents,
    }
}
