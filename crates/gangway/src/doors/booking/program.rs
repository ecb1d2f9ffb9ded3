//! What can be seen, and which seats there are.

use std::sync::Arc;

use axum::{Json, extract::State};
use jiff::civil::Date;
use serde::Deserialize;

use super::{
    refused,
    wire::{
        DateList, MovieInfo, MovieList, SeatInfo, SeatKind, SeatList, SeatStatus, ShowingInfo,
        ShowingList, TheaterInfo, TheaterList, TicketTypeInfo, TicketTypeList,
    },
};
use crate::{
    booking::{
        Status,
        cinema::{Movie, Showing, Theater, TicketType},
        hall::{Kind, Seat},
    },
    error::{ApiError, ApiResult},
    extract::{Id, Query},
    server::App,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct OfMovie {
    movie_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct InTheater {
    movie_id: String,
    theater_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct OnDay {
    movie_id: String,
    theater_id: String,
    date: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WithHold {
    hold_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct OfShowing {
    showing_id: String,
}

/// List the movies
#[utoipa::path(get, path = "/api/booking/movies", tag = "booking", responses((status = 200, body = MovieList)))]
pub(super) async fn movies(State(app): State<Arc<App>>) -> Json<MovieList> {
    let movies = app.box_office.movies().iter().map(movie).collect();
    Json(MovieList { movies })
}

/// List the theaters that show a movie
#[utoipa::path(get, path = "/api/booking/theaters", tag = "booking", params(
    ("movieId" = Option<String>, Query, description = "The movie; all theaters without it"),
), responses((status = 200, body = TheaterList), (status = 404, description = "`movie_not_found`", body = ApiError)))]
pub(super) async fn theaters(
    State(app): State<Arc<App>>,
    Query(of): Query<OfMovie>,
) -> ApiResult<Json<TheaterList>> {
    let found = app.box_office.theaters(of.movie_id.as_deref());
    let theaters = found.map_err(refused)?.into_iter().map(theater).collect();
    Ok(Json(TheaterList { theaters }))
}

/// List the days on which a movie can be seen in a theater
#[utoipa::path(get, path = "/api/booking/dates", tag = "booking", params(
    ("movieId" = String, Query, description = "The movie"),
    ("theaterId" = String, Query, description = "The theater"),
), responses(
    (status = 200, body = DateList),
    (status = 400, body = ApiError),
    (status = 404, description = "`movie_not_found` or `theater_not_found`", body = ApiError),
))]
pub(super) async fn dates(
    State(app): State<Arc<App>>,
    Query(of): Query<InTheater>,
) -> ApiResult<Json<DateList>> {
    let dates = app.box_office.dates(&of.movie_id, &of.theater_id);
    let dates = dates.map_err(refused)?;
    Ok(Json(DateList { dates }))
}

/// List what can be seen of a movie in a theater on a day
#[utoipa::path(get, path = "/api/booking/showings", tag = "booking", params(
    ("movieId" = String, Query, description = "The movie"),
    ("theaterId" = String, Query, description = "The theater"),
    ("date" = String, Query, description = "The day, as 2026-11-16"),
), responses(
    (status = 200, body = ShowingList),
    (status = 400, body = ApiError),
    (status = 404, description = "`movie_not_found` or `theater_not_found`", body = ApiError),
))]
pub(super) async fn showings(
    State(app): State<Arc<App>>,
    Query(of): Query<OnDay>,
) -> ApiResult<Json<ShowingList>> {
    let date = day(&of.date)?;
    let office = &app.box_office;
    let found = office.showings(&of.movie_id, &of.theater_id, date).await;
    let showings = found.map_err(refused)?.into_iter();
    let showings = showings.map(|(one, left)| showing(one, left)).collect();
    Ok(Json(ShowingList { showings }))
}

/// List the seats of a showing
#[utoipa::path(get, path = "/api/booking/showings/{id}/seats", tag = "booking", params(
    ("id" = String, Path, description = "The showing"),
    ("holdId" = Option<String>, Query, description = "A hold; its seats are `mine`"),
), responses(
    (status = 200, body = SeatList),
    (status = 404, description = "`showing_not_found`", body = ApiError),
    (status = 409, description = "`showing_over`", body = ApiError),
))]
pub(super) async fn seats(
    State(app): State<Arc<App>>,
    Id(id): Id,
    Query(with): Query<WithHold>,
) -> ApiResult<Json<SeatList>> {
    let map = app.box_office.seats(&id, with.hold_id.as_deref()).await;
    let map = map.map_err(refused)?;
    Ok(Json(SeatList {
        rows: map.rows.iter().map(char::to_string).collect(),
        seats: map.seats.into_iter().map(seat).collect(),
    }))
}

/// List the kinds of tickets for a showing
#[utoipa::path(get, path = "/api/booking/ticket-types", tag = "booking", params(
    ("showingId" = String, Query, description = "The showing"),
), responses(
    (status = 200, body = TicketTypeList),
    (status = 400, body = ApiError),
    (status = 404, description = "`showing_not_found`", body = ApiError),
    (status = 409, description = "`showing_over`", body = ApiError),
))]
pub(super) async fn ticket_types(
    State(app): State<Arc<App>>,
    Query(of): Query<OfShowing>,
) -> ApiResult<Json<TicketTypeList>> {
    let showing = app.box_office.showing(&of.showing_id).map_err(refused)?;
    let ticket_types = showing.ticket_types().into_iter().map(ticket_type);
    Ok(Json(TicketTypeList {
        ticket_types: ticket_types.collect(),
    }))
}

/// A day, written in the one way that we write it.
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
