//! Settings of the relay.

use serde::{Deserialize, Serialize};

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
