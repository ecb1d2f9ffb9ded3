//! Why a feed ends, as each wire says it.

use gangway_core::Ended;

use super::frame::FeedFrame;
use crate::{
    auth::KeyId,
    metrics::{Metrics, Reason},
    server::App,
};

/// Why the server says nothing more to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The log ended for this reader.
    Log(Ended),
    /// The key that let it in was revoked.
    Revoked,
}

impl Ending {
    /// A word for machines, a sentence for people, and the code on a WebSocket.
    fn words(self) -> (&'static str, &'static str, u16) {
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
            Self::Revoked => ("revoked", "The API key was revoked.", 4001),
        }
    }

    /// The last frame of the feed.
    #[must_use]
    pub fn frame(self) -> FeedFrame {
        let (reason, message, _) = self.words();
        FeedFrame::Closing {
            reason: reason.into(),
            message: message.into(),
        }
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

/// Waits until the key that let a reader in is revoked; for ever where none was needed.
pub async fn revoked(app: &App, key: Option<&KeyId>) {
    match key {
        Some(key) => app.keys.revoked(key).await,
        None => std::future::pending().await,
    }
}
