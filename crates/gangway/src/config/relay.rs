//! Settings of the relay.

use serde::{Deserialize, Serialize};

use super::{ConfigError, check::within};

/// How pages and external agents are joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RelayConfig {
    /// Seconds that a page may take to answer an agent.
    pub answer_seconds: u64,
    /// Bytes of one message.
    pub message_bytes: usize,
}

impl Default for RelayConfig {
    fn default() -> Self {
        Self {
            answer_seconds: 30,
            message_bytes: 4 << 20,
        }
    }
}

impl RelayConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        within("relay.answer_seconds", self.answer_seconds, 1..=3600)?;
        within("relay.message_bytes", self.message_bytes, 1024..=64 << 20)
    }
}
