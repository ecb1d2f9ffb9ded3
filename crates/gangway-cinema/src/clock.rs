//! The cinema's clock.

use std::time::Instant;

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

/// The machine's clock in its time zone. A test that advances tokio's time advances this one too.
pub(super) struct Clock {
    zone: TimeZone,
    real: Instant,
    movable: tokio::time::Instant,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            zone: TimeZone::system(),
            real: Instant::now(),
            movable: tokio::time::Instant::now(),
        }
    }

    /// The instant, and the local time.
    pub(super) fn now(&self) -> (Timestamp, DateTime) {
        let moved = self
            .movable
            .elapsed()
            .saturating_sub(self.real.elapsed())
            .as_millis();
        let ahead = i64::try_from(moved).unwrap_or(i64::MAX);
        let real = gangway_core::event::now().as_millisecond();
        let now = Timestamp::from_millisecond(real.saturating_add(ahead));
        let now = now.unwrap_or(Timestamp::MAX);
        (now, self.zone.to_datetime(now))
    }
}
