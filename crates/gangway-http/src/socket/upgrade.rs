//! The upgrade of a request to a WebSocket, with buffers that suit many idle connections.

use axum::{
    extract::{WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    http::StatusCode,
    response::Response,
};

use super::{PROTOCOL, Socket};
use crate::{
    Http,
    error::{ApiError, ApiResult},
};

pub type UpgradeResult = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

/// Buffer sizes. The library's defaults hold 128 KiB for each connection, and nearly all of them are idle.
#[derive(Debug, Clone, Copy)]
pub struct Frames {
    /// The largest message that the client may send, in bytes.
    pub message: usize,
    /// Bytes that are buffered before a write.
    pub write: usize,
}

impl Frames {
    /// For a client that receives bursts of events.
    #[must_use]
    pub fn of(message: usize) -> Self {
        Self {
            message,
            write: 16 << 10,
        }
    }

    /// For a client that sends next to nothing.
    #[must_use]
    pub fn small() -> Self {
        Self {
            message: 1024,
            write: 4096,
        }
    }
}

/// The upgrade with these limits, or an error for other requests.
pub fn upgrade(upgrade: UpgradeResult, frames: Frames) -> ApiResult<WebSocketUpgrade> {
    let upgrade = upgrade.map_err(|_| {
        ApiError::new(
            StatusCode::UPGRADE_REQUIRED,
            "bad_upgrade",
            "this URL only accepts WebSocket handshakes of version 13",
        )
    })?;
    Ok(upgrade
        .protocols([PROTOCOL])
        .read_buffer_size(4096.min(frames.message))
        .write_buffer_size(frames.write)
        .max_message_size(frames.message)
        .max_frame_size(frames.message))
}

/// Serves the socket once it is upgraded. The server awaits this when it stops.
pub fn accept<F>(
    http: &Http,
    upgrade: WebSocketUpgrade,
    serve: impl FnOnce(Socket) -> F + Send + 'static,
) -> Response
where
    F: Future<Output = ()> + Send + 'static,
{
    let sockets = http.sockets.clone();
    upgrade.on_upgrade(move |socket| {
        // In a task of its own: that of the upgrade would keep kilobytes that are not needed any more.
        sockets.spawn(serve(Box::new(socket)));
        std::future::ready(())
    })
}
