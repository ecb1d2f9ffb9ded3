//! Why the server ends a connection, in words for machines and people, and as a close code.

use gangway_core::{Ended, Error};

use crate::metrics::{Metrics, Reason};

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
    /// Another connection took its place.
    Replaced,
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
            Self::Replaced => ("replaced", "another page took this one's place", 4409),
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
