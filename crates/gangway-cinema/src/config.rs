//! Settings of the cinema.

use serde::{Deserialize, Serialize};

/// The booking app's cinema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BookingConfig {
    /// Determines movies, theaters and showings.
    pub seed: u32,
    /// Seconds for which selected seats are held.
    pub hold_seconds: u32,
    /// Seat holds at once.
    pub max_holds: u32,
}

impl Default for BookingConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            hold_seconds: 600,
            max_holds: 500,
        }
    }
}
