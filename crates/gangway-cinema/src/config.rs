//! Settings of the cinema.

use serde::{Deserialize, Serialize};

/// The cinema behind the booking app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BookingConfig {
    /// Decides which movies, theaters and showings there are.
    pub seed: u32,
    /// Seconds for which chosen seats are kept.
    pub hold_seconds: u32,
    /// Holds on seats at once.
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
