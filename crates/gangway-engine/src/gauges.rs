//! Metrics shared by the engine and its callers, and the limit of its queue.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use gangway_embedded::Status;

/// The shared metrics.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    /// Unfinished requests.
    requests: AtomicUsize,
    pub waiting: AtomicUsize,
    pub active: AtomicUsize,
    pub prompt: AtomicU64,
    pub reused: AtomicU64,
    pub generated: AtomicU64,
    /// Answers that were preempted for lack of memory.
    pub pushed_out: AtomicU64,
    loaded: Mutex<Option<(String, u64)>>,
    /// Progress counter of the engine.
    pub progress: AtomicU64,
    /// Whether there is work to do.
    pub busy: AtomicBool,
    /// The engine must end.
    pub closing: AtomicBool,
    /// Offset of the clock in tests, in milliseconds.
    ahead: AtomicU64,
}

impl Gauges {
    /// The current time, which tests can move.
    pub fn now(&self) -> Instant {
        Instant::now() + Duration::from_millis(self.ahead.load(SeqCst))
    }

    #[cfg(test)]
    pub fn pass(&self, time: Duration) {
        let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX / 4);
        self.ahead.fetch_add(time, SeqCst);
    }

    /// Sets the loaded model and its memory.
    pub fn set_loaded(&self, loaded: Option<(String, u64)>) {
        *self.loaded.lock().unwrap_or_else(PoisonError::into_inner) = loaded;
    }

    pub fn status(&self) -> Status {
        let loaded = self
            .loaded
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let (loaded, memory_bytes) = loaded.unzip();
        Status {
            loaded,
            memory_bytes: memory_bytes.unwrap_or(0),
            active: self.active.load(SeqCst),
            waiting: self.waiting.load(SeqCst),
            prompt_tokens: self.prompt.load(SeqCst),
            reused_tokens: self.reused.load(SeqCst),
            generated_tokens: self.generated.load(SeqCst),
        }
    }

    /// Reserves a place for a request, unless there are already `most`.
    pub fn place(self: &Arc<Self>, most: usize) -> Option<QueuePlace> {
        let more = |requests| (requests < most).then_some(requests + 1);
        self.requests.fetch_update(SeqCst, SeqCst, more).ok()?;
        self.waiting.fetch_add(1, SeqCst);
        Some(QueuePlace {
            gauges: Arc::clone(self),
            waits: true,
        })
    }
}

/// A request's place in the queue, released on drop.
#[derive(Debug)]
pub(crate) struct QueuePlace {
    gauges: Arc<Gauges>,
    waits: bool,
}

impl QueuePlace {
    /// The request is being served.
    pub fn begin(&mut self) {
        if std::mem::take(&mut self.waits) {
            self.gauges.waiting.fetch_sub(1, SeqCst);
        }
    }
}

impl Drop for QueuePlace {
    fn drop(&mut self) {
        self.begin();
        self.gauges.requests.fetch_sub(1, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_when_its_request_is_gone() {
        let gauges = Arc::new(Gauges::default());
        let mut first = gauges.place(2);
        let second = gauges.place(2);
        assert!(second.is_some() && gauges.place(2).is_none());
        assert_eq!(gauges.status().waiting, 2);
        first.as_mut().into_iter().for_each(QueuePlace::begin);
        assert_eq!(gauges.status().waiting, 1);
        assert!(gauges.place(2).is_none(), "a begun request keeps its place");
        drop(first);
        assert!(gauges.place(2).is_some());
        drop(second);
        assert_eq!(gauges.status().waiting, 0);
    }
}
