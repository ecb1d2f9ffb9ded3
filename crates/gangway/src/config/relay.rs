//! Validation of the relay's settings.

use gangway_relay::RelayConfig;

use super::{ConfigError, check::within};

pub(super) fn check(relay: &RelayConfig) -> Result<(), ConfigError> {
    within("relay.answer_seconds", relay.answer_seconds, 1..=3600)?;
    within("relay.message_bytes", relay.message_bytes, 1024..=64 << 20)
}
