//! Messages about tool calls to a page with its own socket.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::calls::{PageCall, PageLink};

/// Cancellations that wait for a page without a connection; the oldest are dropped, since the calls have ended anyway.
const CANCELLED: usize = 64;

/// A message to a page about a call of its tools.
#[derive(Debug, Clone, PartialEq)]
pub enum ToPage {
    Call(PageCall),
    /// The call with this number was cancelled.
    Cancel(u64),
}

/// Messages until a connection takes them; bounded by the limit of open calls.
#[derive(Default)]
pub(crate) struct Mailbox {
    waiting: Mutex<VecDeque<ToPage>>,
    more: Notify,
}

impl Mailbox {
    /// The next message, while `is_reader` holds; only the newest connection of a page reads.
    pub(crate) async fn next(&self, is_reader: impl Fn() -> bool + Send) -> ToPage {
        loop {
            // Before the check, so that nothing is added in between unnoticed.
            let more = self.more.notified();
            if is_reader()
                && let Some(next) = self.waiting.lock().pop_front()
            {
                return next;
            }
            more.await;
        }
    }

    /// A new connection: it gets all open calls, since those sent before may have been lost.
    pub(crate) fn restart(&self, open: Vec<PageCall>) {
        let mut waiting = self.waiting.lock();
        waiting.retain(|one| matches!(one, ToPage::Cancel(_)));
        waiting.extend(open.into_iter().map(ToPage::Call));
        drop(waiting);
        self.more.notify_waiters();
    }
}

impl PageLink for Mailbox {
    fn call(&self, call: PageCall) {
        self.waiting.lock().push_back(ToPage::Call(call));
        self.more.notify_waiters();
    }

    fn cancel(&self, call: u64) {
        let mut waiting = self.waiting.lock();
        let before = waiting.len();
        waiting.retain(|one| !matches!(one, ToPage::Call(unsent) if unsent.call == call));
        if waiting.len() < before {
            return;
        }
        let cancels = |one: &&ToPage| matches!(one, ToPage::Cancel(_));
        if waiting.iter().filter(cancels).count() >= CANCELLED {
            let oldest = waiting.iter().position(|one| cancels(&one));
            oldest.and_then(|at| waiting.remove(at));
        }
        waiting.push_back(ToPage::Cancel(call));
        drop(waiting);
        self.more.notify_waiters();
    }
}
