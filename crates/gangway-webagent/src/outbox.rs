//! Numbered messages to one page, kept until acknowledged so that a lost connection loses nothing.

use bytes::Bytes;
use gangway_core::outbox;
use gangway_http::socket::to_json;

use crate::message::{Numbered, SiteServerMessage};

/// Backlog in bytes above which the page's streams wait.
const ROOM: usize = 1 << 20;

/// A page with a larger backlog is disconnected.
const MAX_BYTES: usize = 16 << 20;
const MAX_MESSAGES: usize = 20_000;

/// Messages to one page.
#[derive(Default)]
pub struct Outbox(outbox::Outbox<Bytes>);

impl Outbox {
    /// Adds a message. False if the backlog is so large that the page must be disconnected.
    pub(crate) fn send(&self, outgoing: SiteServerMessage) -> bool {
        let backlog = self.0.push(|n| {
            let message = to_json(&Numbered {
                n,
                message: outgoing,
            });
            let bytes = message.len();
            (message, bytes)
        });
        backlog.bytes <= MAX_BYTES && backlog.messages <= MAX_MESSAGES
    }

    /// Waits until the backlog has room for a stream.
    pub(crate) async fn room(&self) {
        self.0.room(ROOM).await;
    }

    /// Acknowledges up to this number.
    pub(crate) fn acknowledge(&self, number: u64) {
        self.0.acknowledge(number);
    }

    /// The messages after a number, with the number of the last; `None` if one of them was dropped.
    pub(crate) fn after(&self, number: u64) -> Option<(Vec<Bytes>, u64)> {
        self.0.after(number)
    }

    /// Waits for a message after this number.
    pub(crate) async fn more(&self, number: u64) {
        self.0.more(number).await;
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use serde_json::json;

    use super::*;

    fn result(outbox: &Outbox, result: &str) -> bool {
        outbox.send(SiteServerMessage::Result {
            id: 1,
            result: json!(result),
        })
    }

    #[test]
    fn a_page_that_takes_nothing_is_abandoned() {
        let outbox = Outbox::default();
        let taken = (0..100_000).take_while(|_| result(&outbox, "x")).count();
        assert_eq!(taken, MAX_MESSAGES);
        let outbox = Outbox::default();
        let large = "x".repeat(1 << 20);
        let taken = (0..100).take_while(|_| result(&outbox, &large)).count();
        assert_eq!(taken, 15);
    }

    #[test]
    fn messages_are_numbered_and_streams_wait_for_a_page_that_does_not_keep_up() {
        let outbox = Outbox::default();
        result(&outbox, "x");
        result(&outbox, &"x".repeat(ROOM));
        assert_eq!(outbox.room().now_or_never(), None);
        outbox.acknowledge(1);
        let (rest, last) = outbox.after(1).unwrap();
        assert_eq!((rest.len(), last), (1, 2));
        assert!(rest[0].starts_with(br#"{"n":2,"#));
        outbox.acknowledge(2);
        assert_eq!(outbox.room().now_or_never(), Some(()));
    }
}
