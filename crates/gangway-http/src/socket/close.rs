//! Closing a WebSocket so that the client learns why.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};

use super::within;

/// A close frame that the client does not answer is not waited for longer than this.
const CLOSE_TIME: Duration = Duration::from_secs(1);

/// Tells a client which rule of WebSocket, or which limit, its frame broke.
pub async fn refuse(mut sink: SplitSink<WebSocket, Message>, error: axum::Error) {
    use tokio_tungstenite::tungstenite::{Error, error::ProtocolError};
    let (code, reason) = match error.into_inner().downcast_ref() {
        // The client left without a word.
        Some(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => return,
        Some(Error::Capacity(_)) => (1009, "the message is too large"),
        Some(Error::Utf8(_)) => (1007, "the text is not UTF-8"),
        Some(Error::Protocol(_)) => (1002, "this is not WebSocket"),
        // The connection itself is gone.
        _ => return,
    };
    let frame = CloseFrame {
        code,
        reason: reason.into(),
    };
    // Nothing can be read from here on; the connection below hears the client out, so that it gets the reason.
    let _ = sink.send(Message::Close(Some(frame))).await;
}

/// Answers the close that a client sent: the library has it ready, and writes it when it is read from again.
pub async fn answer_close(inbox: &mut SplitStream<WebSocket>) {
    while let Some(Ok(_)) = inbox.next().await {}
}

/// Says a last word and closes.
pub async fn say_goodbye(
    mut sink: SplitSink<WebSocket, Message>,
    mut inbox: SplitStream<WebSocket>,
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
