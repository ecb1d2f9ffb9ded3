//! The upgrade of a request to a WebSocket, with buffers that suit many idle connections.

use axum::{
    extract::{WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    http::StatusCode,
};

use super::PROTOCOL;
use crate::error::{ApiError, ApiResult};

/// A request as the extractor found it.
pub type UpgradeResult = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

/// What a connection reads and writes at once. The defaults of the library hold 128 KiB for each connection, and nearly all
/// of them are idle nearly always.
#[derive(Debug, Clone, Copy)]
pub struct Frames {
    /// Bytes of a message that the client may send.
    pub message: usize,
    /// Bytes that are gathered before they are written.
    pub write: usize,
}

impl Frames {
    /// For a client that is sent bursts of events.
    #[must_use]
    pub fn of(message: usize) -> Self {
        Self {
            message,
            write: 16 << 10,
        }
    }

    /// For a client that sends close to nothing.
    #[must_use]
    pub fn small() -> Self {
        Self {
            message: 1024,
            write: 4096,
        }
    }
}

/// The upgrade with these limits, or the error that says what this address wants.
pub fn upgrade(upgrade: UpgradeResult, frames: Frames) -> ApiResult<WebSocketUpgrade> {
    let upgrade = upgrade.map_err(|_| {
        ApiError::new(
            StatusCode::UPGRADE_REQUIRED,
            "bad_upgrade",
            "this address takes only WebSocket handshakes of version 13",
        )
    })?;
    Ok(upgrade
        .protocols([PROTOCOL])
        .read_buffer_size(4096.min(frames.message))
        .write_buffer_size(frames.write)
        .max_message_size(frames.message)
        .max_frame_size(frames.message))
}
