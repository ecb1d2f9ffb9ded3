//! Why the server closes a connection: reason, message and close code.

use gangway_core::{Error, SubscriptionEnd};

use crate::metrics::{Metrics, Reason};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Log(SubscriptionEnd),
    /// The key or login was revoked or has expired.
    Revoked,
    /// Above the rate limit.
    Flood,
    /// The launch has expired.
    Expired,
    /// The launch does not exist (any more).
    Gone,
    /// The client did not join in time.
    Unjoined,
    /// Replaced by another connection.
    Replaced,
}

impl Ending {
    /// The reason, a message for people, and the WebSocket close code.
    pub fn close_info(self) -> (&'static str, &'static str, u16) {
        match self {
            Self::Log(SubscriptionEnd::Slow) => (
                "slow",
                "The client is too far behind. Reconnect with the last number you received.",
                1013,
            ),
            Self::Log(SubscriptionEnd::Deleted) => ("deleted", "This session was deleted.", 4004),
            Self::Log(SubscriptionEnd::Stopping) => (
                "shutdown",
                "The server is stopping. Reconnect with the last number you received.",
                1001,
            ),
            Self::Log(SubscriptionEnd::Failed) => (
                "storage",
                "The store accepts no more writes. See the server's log.",
                1011,
            ),
            Self::Log(SubscriptionEnd::Damaged) => (
                "corrupted",
                "The stored events that come next are damaged. See the server's log and run `gangway doctor`.",
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
            Self::Gone => ("deleted", "Launch not found. Launch the app again.", 4404),
            Self::Unjoined => (
                "unjoined",
                "No join message arrived in time. Reconnect and join first.",
                1008,
            ),
            Self::Replaced => ("replaced", "Replaced by another page.", 4409),
            Self::Flood => (
                "flood",
                "Too many messages. Reconnect and send fewer.",
                1008,
            ),
        }
    }

    /// A log that could not be read. The store has logged damage already.
    #[must_use]
    pub fn unreadable(error: &Error) -> Self {
        let why = SubscriptionEnd::from(error);
        if why != SubscriptionEnd::Damaged {
            tracing::error!(%error, "reading a session log failed");
        }
        Self::Log(why)
    }

    #[must_use]
    pub fn close(self) -> (u16, &'static str) {
        let (_, message, code) = self.close_info();
        (code, message)
    }

    pub fn count(self, metrics: &Metrics) {
        let (reason, ..) = self.close_info();
        metrics
            .readers_ended
            .get_or_create(&Reason { reason })
            .inc();
    }
}
