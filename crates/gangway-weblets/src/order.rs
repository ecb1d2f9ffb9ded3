//! The order of one client's messages. They are handled concurrently, and each must be in the session's queue before the next.

use tokio::sync::oneshot;

/// Gives each message its turn.
#[derive(Default)]
pub(crate) struct Order {
    last: Option<oneshot::Receiver<()>>,
}

/// The turn of one message; it ends when this is dropped.
pub(crate) struct Turn {
    before: Option<oneshot::Receiver<()>>,
    _end: oneshot::Sender<()>,
}

impl Order {
    /// The turn after those that were given out.
    pub(crate) fn next(&mut self) -> Turn {
        let (end, ended) = oneshot::channel();
        Turn {
            before: self.last.replace(ended),
            _end: end,
        }
    }
}

impl Turn {
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
    fn a_turn_begins_when_the_one_before_ends_whichever_is_polled_first() {
        let mut order = Order::default();
        let (mut first, mut second, mut third) = (order.next(), order.next(), order.next());
        let mut last = Box::pin(third.begin());
        assert!(last.as_mut().now_or_never().is_none());
        assert!(second.begin().now_or_never().is_none());
        assert!(first.begin().now_or_never().is_some());
        drop(second);
        assert!(last.as_mut().now_or_never().is_some());
    }
}
