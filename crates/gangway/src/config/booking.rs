//! Validation of the cinema's settings.

use gangway_cinema::BookingConfig;

use super::{ConfigError, check::within};

pub(super) fn check(booking: &BookingConfig) -> Result<(), ConfigError> {
    within("booking.hold_seconds", booking.hold_seconds, 10..=86_400)?;
    within("booking.max_holds", booking.max_holds, 1..=100_000)
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    #[test]
    fn a_cinema_that_could_not_work_is_refused_by_name() {
        for (key, text) in [
            ("booking.hold_seconds", "booking: {hold_seconds: 9}"),
            ("booking.hold_seconds", "booking: {hold_seconds: 86401}"),
            ("booking.max_holds", "booking: {max_holds: 0}"),
        ] {
            let config = Config::parse(text).unwrap();
            let error = config.check().expect_err(text).to_string();
            assert!(
                error.starts_with(key) && error.contains("must be"),
                "{error}"
            );
        }
        for text in [
            "booking: {seed: -1}",
            "booking: {seed: many}",
            "booking: {seeds: 1}",
            "booking: {hold_seconds: 1.5}",
        ] {
            assert!(Config::parse(text).is_err(), "{text}");
        }
        let fits = Config::parse("booking: {seed: 0, hold_seconds: 10, max_holds: 1}").unwrap();
        assert!(fits.check().is_ok());
    }
}
