//! Polls a future only when it was woken.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use futures_util::task::AtomicWaker;

/// Polls a future only when it was woken, not whenever its task is. Beside a future that is woken all the time, this
/// saves most polls of what hardly ever happens.
pub(super) struct WhenWoken {
    alarm: Arc<Alarm>,
    waker: Waker,
}

struct Alarm {
    woken: AtomicBool,
    task: AtomicWaker,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.task.wake();
    }
}

impl WhenWoken {
    pub(super) fn new() -> Self {
        let alarm = Arc::new(Alarm {
            woken: AtomicBool::new(true),
            task: AtomicWaker::new(),
        });
        let waker = Waker::from(Arc::clone(&alarm));
        Self { alarm, waker }
    }

    /// Polls it the next time in any case: it waits for something else now.
    pub(super) fn again(&self) {
        self.alarm.woken.store(true, Ordering::Release);
    }

    pub(super) fn poll<F: Future>(
        &self,
        future: Pin<&mut F>,
        context: &mut Context<'_>,
    ) -> Poll<F::Output> {
        // First, so that a wake after the check wakes the task.
        self.alarm.task.register(context.waker());
        match self.alarm.woken.swap(false, Ordering::AcqRel) {
            true => future.poll(&mut Context::from_waker(&self.waker)),
            false => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::poll_fn,
        pin::pin,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn a_future_is_polled_when_it_was_woken_and_not_when_its_task_was() {
        let (notify, polls, woken) = (Notify::new(), AtomicUsize::new(0), WhenWoken::new());
        let mut notified = pin!(notify.notified());
        let counted = poll_fn(|context| {
            polls.fetch_add(1, Ordering::Relaxed);
            notified.as_mut().poll(context)
        });
        let mut counted = pin!(counted);
        for _ in 0..3 {
            let poll = poll_fn(|context| Poll::Ready(woken.poll(counted.as_mut(), context)));
            assert!(poll.await.is_pending());
        }
        assert_eq!(polls.load(Ordering::Relaxed), 1);
        woken.again();
        let poll = poll_fn(|context| Poll::Ready(woken.poll(counted.as_mut(), context)));
        assert!(poll.await.is_pending());
        assert_eq!(polls.load(Ordering::Relaxed), 2);
        let wait = poll_fn(|context| woken.poll(counted.as_mut(), context));
        tokio::join!(wait, async { notify.notify_waiters() });
        assert_eq!(polls.load(Ordering::Relaxed), 3);
    }
}
