//! What every WebSocket of ours has in common: how it ends, and how a client learns why.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use bytes::Bytes;
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use gangway_core::{Ended, Error};
use serde::Serialize;

use crate::metrics::{Metrics, Reason};

/// The subprotocol that pages name beside their key or login; browsers want one of those that they named.
pub const PROTOCOL: &str = "gangway";

/// A close frame that the client does not answer is not waited for longer than this.
const CLOSE_TIME: Duration = Duration::from_secs(1);

/// Why the server says nothing more to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The log ended for this reader.
    Log(Ended),
    /// What let it in was revoked, has expired or is logged out.
    Revoked,
    /// It says too much.
    Flood,
    /// The time of the launch is over.
    Expired,
    /// There is no such launch, or not any more.
    Gone,
    /// It never said as what it came.
    Unjoined,
}

impl Ending {
    /// A word for machines, a sentence for people, and the code on a WebSocket.
    pub fn words(self) -> (&'static str, &'static str, u16) {
        match self {
            Self::Log(Ended::Slow) => (
                "slow",
                "You fell too far behind. Connect again with the last number you saw.",
                1013,
            ),
            Self::Log(Ended::Deleted) => ("deleted", "This session was deleted.", 4004),
            Self::Log(Ended::Stopping) => (
                "shutdown",
                "The server is stopping. Connect again with the last number you saw.",
                1001,
            ),
            Self::Log(Ended::Failed) => (
                "storage",
                "The store takes no more writes. Look at the server's log.",
                1011,
            ),
            Self::Log(Ended::Damaged) => (
                "corrupted",
                "What is stored next is damaged. Look at the server's log, and run `gangway doctor`.",
                4500,
            ),
            Self::Revoked => (
                "revoked",
                "The key was revoked or has expired, or the browser was logged out.",
                4001,
            ),
            Self::Expired => (
                "expired",
                "This launch has ended. Launch the app again.",
                4410,
            ),
            Self::Gone => (
                "deleted",
                "There is no such launch, or not any more. Launch the app again.",
                4404,
            ),
            Self::Unjoined => (
                "unjoined",
                "Nobody joined here in time. Connect again, and join first.",
                1008,
            ),
            Self::Flood => (
                "flood",
                "Too many messages for too long. Say less, and connect again.",
                1008,
            ),
        }
    }

    /// A log that could not be read. Damage was logged by the store, once for each place.
    #[must_use]
    pub fn unreadable(error: &Error) -> Self {
        let why = Ended::from(error);
        if why != Ended::Damaged {
            tracing::error!(%error, "a log could not be read");
        }
        Self::Log(why)
    }

    /// Code and reason of the WebSocket's close.
    #[must_use]
    pub fn close(self) -> (u16, &'static str) {
        let (_, message, code) = self.words();
        (code, message)
    }

    /// Counts a reader that the server ended.
    pub fn count(self, metrics: &Metrics) {
        let (reason, ..) = self.words();
        metrics
            .readers_ended
            .get_or_create(&Reason { reason })
            .inc();
    }
}

/// The result, or none when it takes too long.
pub async fn within<T>(time: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(time, work).await.ok()
}

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

/// Plain data as JSON text.
pub fn to_json<T: Serialize>(frame: &T) -> Bytes {
    // With string keys it always encodes.
    serde_json::to_vec(frame).unwrap_or_default().into()
}

/// JSON text as a message.
pub fn text_message(json: Bytes) -> Message {
    // What serde writes is always UTF-8.
    Message::Text(Utf8Bytes::try_from(json).unwrap_or_default())
}
