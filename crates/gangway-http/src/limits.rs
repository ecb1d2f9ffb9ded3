//! The settings `limits`.

use serde::{Deserialize, Serialize};

/// Limits per client: sizes, rates and connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsConfig {
    /// Bytes of a request body.
    pub body_bytes: usize,
    /// Bytes of all request headers together.
    pub header_bytes: usize,
    /// Bytes of a WebSocket message from a client.
    pub frame_bytes: usize,
    /// Bytes of a message on the applet channel; a file write is one message.
    pub applet_bytes: usize,
    /// Hours for which the URL of a launched app is valid.
    pub launch_hours: u32,
    /// Concurrent connections.
    pub connections: usize,
    /// Requests per second per address, on average.
    pub requests_per_second: u32,
    /// Requests that one address may make at once.
    pub request_burst: u32,
    /// Seconds between heartbeats on an open stream.
    pub heartbeat_seconds: u64,
    /// Seconds a client may leave its receive buffer full before it is disconnected.
    pub stalled_seconds: u64,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            body_bytes: 4 << 20,
            header_bytes: 16 << 10,
            frame_bytes: 1 << 20,
            applet_bytes: 24 << 20,
            launch_hours: 24,
            connections: 8192,
            requests_per_second: 1000,
            request_burst: 2000,
            heartbeat_seconds: 15,
            stalled_seconds: 5,
        }
    }
}
