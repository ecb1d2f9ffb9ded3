//! JSON types of the booking API.

use std::collections::BTreeMap;

use jiff::{
    Timestamp,
    civil::{Date, DateTime},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct MovieList {
    pub movies: Vec<MovieInfo>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct MovieInfo {
    pub id: String,
    pub title: String,
    pub genre: String,
    pub minutes: usize,
    /// Out of 10.
    pub rating: f64,
    pub synopsis: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct TheaterList {
    pub theaters: Vec<TheaterInfo>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TheaterInfo {
    pub id: String,
    pub name: String,
    pub address: String,
    pub distance_km: f64,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct DateList {
    /// As 2026-11-16.
    #[schema(value_type = Vec<String>)]
    pub dates: Vec<Date>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ShowingList {
    /// By time.
    pub showings: Vec<ShowingInfo>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShowingInfo {
    pub id: String,
    /// Local time of the theater, as 19:30.
    pub time: String,
    pub hall: String,
    /// Such as 2D or 3D.
    pub format: String,
    /// Before discounts.
    pub price_cents: u64,
    /// Free seats.
    pub seats_left: usize,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SeatList {
    /// The rows, from the screen to the back.
    pub rows: Vec<String>,
    /// The seats, row by row.
    pub seats: Vec<SeatInfo>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SeatInfo {
    /// Row and number.
    pub id: String,
    pub row: String,
    pub number: usize,
    pub kind: SeatKind,
    pub status: SeatStatus,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SeatKind {
    Standard,
    /// In the last rows.
    Premium,
    /// Step-free, with space beside it.
    Accessible,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SeatStatus {
    Free,
    /// Held by someone else, not booked yet.
    Held,
    /// Booked.
    Taken,
    /// Held by the hold in the request.
    Mine,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TicketTypeList {
    pub ticket_types: Vec<TicketTypeInfo>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TicketTypeInfo {
    pub id: String,
    pub name: String,
    /// Who it is for.
    pub description: String,
    pub price_cents: u64,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HoldSeats {
    /// The cinema of a study session; the shared one by default.
    #[serde(default)]
    pub cinema_id: Option<String>,
    pub showing_id: String,
    /// 1 to 10 seats.
    pub seats: Vec<String>,
    /// The hold whose seats these replace.
    #[serde(default)]
    pub hold_id: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeatsHeld {
    /// Unguessable: knowing it is the right to change, book or release the hold.
    pub hold_id: String,
    pub seats: Vec<String>,
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BookTickets {
    /// The cinema of a study session; the shared one by default.
    #[serde(default)]
    pub cinema_id: Option<String>,
    pub showing_id: String,
    pub hold_id: String,
    /// Count by ticket type; the sum must equal the number of seats.
    pub tickets: BTreeMap<String, u32>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BookingInfo {
    /// Unguessable: knowing it is the right to see and cancel the booking.
    pub booking_id: String,
    /// The code that is shown at the entrance.
    pub code: String,
    pub showing_id: String,
    pub seats: Vec<String>,
    pub tickets: BTreeMap<String, u32>,
    pub total_cents: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub cancelled_at: Option<Timestamp>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenCinema {
    /// Determines the program; the seed of the shared cinema by default.
    #[serde(default)]
    pub seed: Option<u32>,
    /// The initial time of its clock, as 2026-11-16T19:30:00; now by default.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub at: Option<DateTime>,
}

/// Cinemas with the same `seed` and `at` have the same program and free seats.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CinemaInfo {
    /// Unguessable: knowing it is the right to use and close the cinema.
    pub cinema_id: String,
    pub seed: u32,
    /// The current time of its clock.
    #[schema(value_type = String)]
    pub at: DateTime,
}
