//! Counters that the engine and everyone who asks it share, and the places in its queue.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use gangway_embedded::Status;

/// The shared counters.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    /// Requests that are not answered to their end.
    requests: AtomicUsize,
    pub waiting: AtomicUsize,
    pub active: AtomicUsize,
    pub prompt: AtomicU64,
    pub reused: AtomicU64,
    pub generated: AtomicU64,
    /// Answers that gave way for want of memory.
    pub pushed_out: AtomicU64,
    loaded: Mutex<Option<(String, u64)>>,
    /// Grows with everything that the engine gets done.
    pub progress: AtomicU64,
    /// Whether there is something to get on with.
    pub busy: AtomicBool,
    /// The engine must end.
    pub closing: AtomicBool,
    /// By how much a test has moved the time, in milliseconds.
    ahead: AtomicU64,
}

impl Gauges {
    /// The time, which tests can move.
    pub fn now(&self) -> Instant {
        Instant::now() + Duration::from_millis(self.ahead.load(SeqCst))
    }

    #[cfg(test)]
    pub fn pass(&self, time: Duration) {
        let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX / 4);
        self.ahead.fetch_add(time, SeqCst);
    }

    /// Says which model is in memory and what it takes.
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

    /// A place for one more request, unless there are `most` already.
    pub fn place(self: &Arc<Self>, most: usize) -> Option<Place> {
        let more = |requests| (requests < most).then_some(requests + 1);
        self.requests.fetch_update(SeqCst, SeqCst, more).ok()?;
        self.waiting.fetch_add(1, SeqCst);
        Some(Place {
            gauges: Arc::clone(self),
            waits: true,
        })
    }
}

/// A request's place, free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    gauges: Arc<Gauges>,
    waits: bool,
}

impl Place {
    /// The request's turn has come.
    pub fn begin(&mut self) {
        if std::mem::take(&mut self.waits) {
            self.gauges.waiting.fetch_sub(1, SeqCst);
        }
    }
}

impl Drop for Place {
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
        first.as_mut().into_iter().for_each(Place::begin);
        assert_eq!(gauges.status().waiting, 1);
        assert!(gauges.place(2).is_none(), "a begun request keeps its place");
        drop(first);
        assert!(gauges.place(2).is_some());
        drop(second);
        assert_eq!(gauges.status().waiting, 0);
    }
}
