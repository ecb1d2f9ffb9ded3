//! The order of one client's messages. They are handled concurrently, and each must be in the session's queue before the next.

use tokio::sync::oneshot;

/// Gives each message its turn.
#[derive(Default)]
pub(crate) struct MessageOrder {
    last: Option<oneshot::Receiver<()>>,
}

/// The turn of one message; it ends when this is dropped.
pub(crate) struct MessageTurn {
    before: Option<oneshot::Receiver<()>>,
    _end: oneshot::Sender<()>,
}

impl MessageOrder {
    /// The turn after those that were given out.
    pub(crate) fn next(&mut self) -> MessageTurn {
        let (end, ended) = oneshot::channel();
        MessageTurn {
            before: self.last.replace(ended),
            _end: end,
        }
    }
}

impl MessageTurn {
    /// Waits until the turns before have ended.
    pub(crate) async fn begin(&mut self) {
        if let Some(before) = &mut self.before {
            // An error: the turn was dropped, which is how it ends.
            let _ = before.await;
            self.before = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_turn_begins_when_the_previous_one_ends_whichever_is_polled_first() {
        let mut order = MessageOrder::default();
        let (mut first, mut second, mut third) = (order.next(), order.next(), order.next());
        let mut last = Box::pin(third.begin());
        assert!(last.as_mut().now_or_never().is_none());
        assert!(second.begin().now_or_never().is_none());
        assert!(first.begin().now_or_never().is_some());
        drop(second);
        assert!(last.as_mut().now_or_never().is_some());
    }
}
