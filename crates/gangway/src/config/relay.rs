//! Limits of the relay's settings.

use super::{ConfigError, check::within};
use gangway_relay::RelayConfig;

pub(super) fn check(relay: &RelayConfig) -> Result<(), ConfigError> {
    within("relay.answer_seconds", relay.answer_seconds, 1..=3600)?;
    within("relay.message_bytes", relay.message_bytes, 1024..=64 << 20)
}
