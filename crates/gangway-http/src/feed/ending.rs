//! The last frame of a feed, with the reason.

use super::frame::FeedFrame;
use crate::socket::Ending;

#[must_use]
pub fn closing(why: Ending) -> FeedFrame {
    let (reason, message, _) = why.close_info();
    FeedFrame::Closing {
        reason: reason.into(),
        message: message.into(),
    }
}
