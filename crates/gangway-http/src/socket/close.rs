//! Closes a WebSocket with a reason.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message};
use futures_util::{SinkExt, StreamExt};

use super::{Inbox, Sink, within};

/// How long to wait for the client's close frame.
const CLOSE_TIME: Duration = Duration::from_secs(1);

/// Closes with the protocol rule or limit that a frame violated.
pub async fn refuse(mut sink: Sink, error: axum::Error) {
    use tokio_tungstenite::tungstenite::{Error, error::ProtocolError};
    let (code, reason) = match error.into_inner().downcast_ref() {
        // The client disconnected.
        Some(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => return,
        Some(Error::Capacity(_)) => (1009, "message too large"),
        Some(Error::Utf8(_)) => (1007, "invalid UTF-8"),
        Some(Error::Protocol(_)) => (1002, "WebSocket protocol error"),
        // The connection is broken.
        _ => return,
    };
    let frame = CloseFrame {
        code,
        reason: reason.into(),
    };
    // Nothing can be read from here on; the connection below drains the client's data, so that it gets the reason.
    let _ = sink.send(Message::Close(Some(frame))).await;
}

/// Answers the client's close frame: the library has queued the answer, and writes it on the next read.
pub async fn answer_close(inbox: &mut Inbox) {
    while let Some(Ok(_)) = inbox.next().await {}
}

/// Sends a last message and closes.
pub async fn say_goodbye(
    mut sink: Sink,
    mut inbox: Inbox,
    last: Message,
    (code, reason): (u16, &'static str),
) {
    let _ = sink.send(last).await;
    let close = CloseFrame {
        code,
        reason: reason.into(),
    };
    let _ = sink.send(Message::Close(Some(close))).await;
    // Reads on until the client closes too, so that it gets the reason and not a reset.
    let _ = within(CLOSE_TIME, async {
        while let Some(Ok(_)) = inbox.next().await {}
    })
    .await;
}
