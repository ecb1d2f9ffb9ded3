//! Messages for a page from everything that serves it. Senders wait while the page is slow.

use std::{collections::VecDeque, future::poll_fn, task::Poll};

use axum::extract::ws::Message;
use futures_util::task::AtomicWaker;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::wire::channel::AppletServerMessage;

/// Messages that wait to be written. Few, since each may be a chunk of a file.
const WAITING: usize = 4;

pub(super) fn message(outgoing: &AppletServerMessage) -> Message {
    // Cannot fail: all keys are strings. As text, which need not be validated again.
    Message::Text(serde_json::to_string(outgoing).unwrap_or_default().into())
}

/// Not a channel of tokio, which allocates 32 messages ahead, for each idle page.
#[derive(Default)]
pub(super) struct Outbox {
    waiting: Mutex<VecDeque<Message>>,
    reader: AtomicWaker,
    taken: Notify,
}

impl Outbox {
    pub(super) async fn send(&self, outgoing: &AppletServerMessage) {
        self.all([message(outgoing)]).await;
    }

    /// Several messages without others in between.
    pub(super) async fn all<const N: usize>(&self, messages: [Message; N]) {
        loop {
            // Before the check, so that nothing is taken in between unnoticed.
            let taken = self.taken.notified();
            {
                let mut waiting = self.waiting.lock();
                if waiting.len() < WAITING {
                    waiting.extend(messages);
                    self.reader.wake();
                    return;
                }
            }
            taken.await;
        }
    }

    /// Waits until there are messages, and moves them there. Cancel-safe; for one reader, which waits here for each event
    /// of the session anew, so it must be cheap.
    pub(super) async fn take(&self, out: &mut VecDeque<Message>) {
        poll_fn(|context| {
            self.reader.register(context.waker());
            match self.take_now(out) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }

    /// False if there are none.
    pub(super) fn take_now(&self, out: &mut VecDeque<Message>) -> bool {
        let mut waiting = self.waiting.lock();
        let any = !waiting.is_empty();
        out.append(&mut waiting);
        if any {
            self.taken.notify_waiters();
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::task::{JoinSet, yield_now};

    use super::*;

    #[tokio::test]
    async fn senders_wait_while_nothing_is_taken_and_messages_sent_together_stay_together() {
        let outbox = Arc::<Outbox>::default();
        let mut senders = JoinSet::new();
        for n in 0..40 {
            let outbox = Arc::clone(&outbox);
            let pair = [n, n].map(|n: u32| Message::text(n.to_string()));
            senders.spawn(async move { outbox.all(pair).await });
        }
        for _ in 0..100 {
            yield_now().await;
        }
        assert!(outbox.waiting.lock().len() <= WAITING + 1);
        let mut taken = VecDeque::new();
        while taken.len() < 80 {
            outbox.take(&mut taken).await;
        }
        assert_eq!(senders.join_all().await.len(), 40);
        assert!(!outbox.take_now(&mut taken));
        let taken = taken.make_contiguous();
        assert!(taken.chunks(2).all(|pair| pair[0] == pair[1]), "{taken:?}");
    }
}
