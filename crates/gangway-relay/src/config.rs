//! Settings of the relay.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RelayConfig {
    /// Timeout of a page's answer, in seconds.
    pub answer_seconds: u64,
    /// Size limit of a message.
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
