//! What the door of the booking app hears and answers, as JSON.

use std::collections::BTreeMap;

use jiff::{
    Timestamp,
    civil::{Date, DateTime},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The movies there are.
#[derive(Debug, Serialize, ToSchema)]
pub struct MovieList {
    /// The movies.
    pub movies: Vec<MovieInfo>,
}

/// A movie.
#[derive(Debug, Serialize, ToSchema)]
pub struct MovieInfo {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What kind of movie it is.
    pub genre: String,
    /// How long it is.
    pub minutes: usize,
    /// How good people find it, up to 10.
    pub rating: f64,
    /// What happens in it.
    pub synopsis: String,
}

/// The theaters there are.
#[derive(Debug, Serialize, ToSchema)]
pub struct TheaterList {
    /// The theaters.
    pub theaters: Vec<TheaterInfo>,
}

/// A theater.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TheaterInfo {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// Where it is.
    pub address: String,
    /// How far that is.
    pub distance_km: f64,
}

/// Days.
#[derive(Debug, Serialize, ToSchema)]
pub struct DateList {
    /// The days, as 2026-11-16.
    #[schema(value_type = Vec<String>)]
    pub dates: Vec<Date>,
}

/// What can be seen.
#[derive(Debug, Serialize, ToSchema)]
pub struct ShowingList {
    /// The showings, in the order of the day.
    pub showings: Vec<ShowingInfo>,
}

/// A movie in a hall, once.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShowingInfo {
    /// Its id.
    pub id: String,
    /// When it begins, as 19:30, by the clock of the theater.
    pub time: String,
    /// Where in the theater.
    pub hall: String,
    /// How it is shown.
    pub format: String,
    /// What a ticket costs before anything is taken off.
    pub price_cents: u64,
    /// Seats that nobody has.
    pub seats_left: usize,
}

/// The seats of a showing.
#[derive(Debug, Serialize, ToSchema)]
pub struct SeatList {
    /// The rows, from the screen to the back.
    pub rows: Vec<String>,
    /// The seats, row by row.
    pub seats: Vec<SeatInfo>,
}

/// A seat.
#[derive(Debug, Serialize, ToSchema)]
pub struct SeatInfo {
    /// Row and number.
    pub id: String,
    /// The row.
    pub row: String,
    /// The number in the row.
    pub number: usize,
    /// What kind of seat it is.
    pub kind: SeatKind,
    /// Who has it.
    pub status: SeatStatus,
}

/// What kind of seat one is.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SeatKind {
    /// As most are.
    Standard,
    /// In the last rows.
    Premium,
    /// Without steps, with room beside it.
    Accessible,
}

/// Who has a seat.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SeatStatus {
    /// Nobody.
    Free,
    /// Somebody who has not booked it yet.
    Held,
    /// Somebody who has.
    Taken,
    /// The hold that was named.
    Mine,
}

/// The kinds of tickets for a showing.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TicketTypeList {
    /// The kinds.
    pub ticket_types: Vec<TicketTypeInfo>,
}

/// A kind of ticket.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TicketTypeInfo {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// Whom it is for.
    pub description: String,
    /// What it costs.
    pub price_cents: u64,
}

/// Seats to be kept for a while.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HoldSeats {
    /// The cinema of a study session; the shared one without it.
    #[serde(default)]
    pub cinema_id: Option<String>,
    /// The showing.
    pub showing_id: String,
    /// 1 to 10 seats.
    pub seats: Vec<String>,
    /// The hold whose seats these replace.
    #[serde(default)]
    pub hold_id: Option<String>,
}

/// Seats that are kept.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeatsHeld {
    /// Whoever knows this may change, book or end the hold.
    pub hold_id: String,
    /// The seats.
    pub seats: Vec<String>,
    /// Until when.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// Tickets to be booked for the seats of a hold.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BookTickets {
    /// The cinema of a study session; the shared one without it.
    #[serde(default)]
    pub cinema_id: Option<String>,
    /// The showing.
    pub showing_id: String,
    /// The hold that has the seats.
    pub hold_id: String,
    /// How many of each kind, together as many as seats.
    pub tickets: BTreeMap<String, u32>,
}

/// A booking.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BookingInfo {
    /// Whoever knows this may see and cancel it.
    pub booking_id: String,
    /// What is shown at the entrance.
    pub code: String,
    /// The showing.
    pub showing_id: String,
    /// The seats.
    pub seats: Vec<String>,
    /// How many of each kind of ticket.
    pub tickets: BTreeMap<String, u32>,
    /// What all of it costs.
    pub total_cents: u64,
    /// When it was cancelled, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub cancelled_at: Option<Timestamp>,
}

/// A cinema for a study session.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenCinema {
    /// What decides its program; that of the shared cinema without it.
    #[serde(default)]
    pub seed: Option<u32>,
    /// What its clock shows at the beginning, as 2026-11-16T19:30:00; the time that it is without it.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub at: Option<DateTime>,
}

/// A cinema that was opened. Opened again with the same `seed` and `at`, it has the same program and the same seats.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CinemaInfo {
    /// Whoever knows this may use and close it.
    pub cinema_id: String,
    /// What decides its program.
    pub seed: u32,
    /// What its clock shows.
    #[schema(value_type = String)]
    pub at: DateTime,
}
