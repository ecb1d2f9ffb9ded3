//! Why a feed ends, as its last frame says it.

use super::frame::FeedFrame;
use crate::socket::Ending;

/// The last frame of a feed.
#[must_use]
pub fn closing(why: Ending) -> FeedFrame {
    let (reason, message, _) = why.words();
    FeedFrame::Closing {
        reason: reason.into(),
        message: message.into(),
    }
}
