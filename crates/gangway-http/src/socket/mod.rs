//! WebSocket connections: the upgrade, the loop that serves every one of them, its rate limit, and how it ends.

mod close;
mod ending;
mod rate;
mod serve;
mod upgrade;
mod woken;

use std::time::Duration;

use axum::extract::ws::{Message, Utf8Bytes, WebSocket};
use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use serde::Serialize;

pub use close::{answer_close, refuse, say_goodbye};
pub use ending::Ending;
pub use rate::{BURST, MessageRate, RATE, RateDecision};
pub use serve::{CloseCause, Handled, Incoming, Peer, serve};
pub use upgrade::{Frames, UpgradeResult, accept, upgrade};

use woken::WhenWoken;

/// The subprotocol that pages offer beside their key or login; the server must pick one of those offered.
pub const PROTOCOL: &str = "gangway";

/// Boxed, since futures keep several copies of what they are given.
pub type Socket = Box<WebSocket>;
pub type Sink = SplitSink<Socket, Message>;
pub type Inbox = SplitStream<Socket>;

/// The result, or `None` on timeout.
pub async fn within<T>(time: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(time, work).await.ok()
}

pub fn to_json<T: Serialize>(frame: &T) -> Bytes {
    // Cannot fail: the map keys are strings.
    serde_json::to_vec(frame).unwrap_or_default().into()
}

pub fn text_message(json: Bytes) -> Message {
    // serde writes valid UTF-8.
    Message::Text(Utf8Bytes::try_from(json).unwrap_or_default())
}
