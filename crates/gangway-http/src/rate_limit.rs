//! A token bucket on tokio's clock, which tests can move.

use std::time::Duration;

pub use governor::Quota;
use governor::{
    RateLimiter,
    clock::Clock,
    middleware::NoOpMiddleware,
    state::{InMemoryState, NotKeyed},
};
use tokio::time::Instant;

#[derive(Clone)]
pub(crate) struct TokioClock(Instant);

impl TokioClock {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for TokioClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

pub struct TokenBucket(RateLimiter<NotKeyed, InMemoryState, TokioClock, NoOpMiddleware<Duration>>);

impl TokenBucket {
    #[must_use]
    pub fn new(quota: Quota) -> Self {
        Self(RateLimiter::direct_with_clock(quota, TokioClock::start()))
    }

    /// Takes a token; false if there is none.
    pub fn take(&self) -> bool {
        self.0.check().is_ok()
    }
}
