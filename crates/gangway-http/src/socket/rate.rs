//! The rate limit of messages on a WebSocket: a client above it is delayed first, and disconnected when it goes on.

use std::{num::NonZeroU32, time::Duration};

use governor::{
    Quota, RateLimiter,
    clock::Clock,
    middleware::StateInformationMiddleware,
    state::{InMemoryState, NotKeyed},
};

use crate::rate_limit::TokioClock;

/// Messages per second.
pub const RATE: NonZeroU32 = NonZeroU32::new(200).unwrap();

/// Messages that may arrive at once.
pub const BURST: NonZeroU32 = NonZeroU32::new(400).unwrap();

/// A client that was delayed for longer than this in total, without a pause, is disconnected.
const DELAY_LIMIT: Duration = Duration::from_secs(10);

/// The token bucket of one connection.
pub struct MessageRate {
    bucket: RateLimiter<NotKeyed, InMemoryState, TokioClock, StateInformationMiddleware>,
    clock: TokioClock,
    /// The last message was accepted before the bucket had a token for it.
    owed: bool,
    delayed: Duration,
}

#[derive(Debug, PartialEq)]
pub enum RateDecision {
    Accept,
    /// Accept the message; read the next one after this time.
    Delay(Duration),
    /// The client stayed above the limit for too long.
    Disconnect,
}

impl Default for MessageRate {
    fn default() -> Self {
        let clock = TokioClock::start();
        let quota = Quota::per_second(RATE).allow_burst(BURST);
        Self {
            bucket: RateLimiter::direct_with_clock(quota, clock.clone()).with_middleware(),
            clock,
            owed: false,
            delayed: Duration::ZERO,
        }
    }
}

impl MessageRate {
    pub fn take(&mut self) -> RateDecision {
        if std::mem::take(&mut self.owed) {
            let _ = self.bucket.check();
        }
        match self.bucket.check() {
            Ok(left) => {
                if left.remaining_burst_capacity() >= BURST.get() / 2 {
                    self.delayed = Duration::ZERO;
                }
                RateDecision::Accept
            }
            Err(until) => {
                let delay = until.wait_time_from(self.clock.now());
                self.owed = true;
                self.delayed += delay;
                match self.delayed > DELAY_LIMIT {
                    true => RateDecision::Disconnect,
                    false => RateDecision::Delay(delay),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_accepted_and_a_client_that_stays_above_the_rate_is_delayed_then_disconnected()
     {
        let mut rate = MessageRate::default();
        for _ in 0..BURST.get() {
            assert_eq!(rate.take(), RateDecision::Accept);
        }
        let start = Instant::now();
        let mut accepted = 0;
        loop {
            match rate.take() {
                RateDecision::Delay(time) => tokio::time::sleep(time).await,
                RateDecision::Disconnect => break,
                RateDecision::Accept => {}
            }
            accepted += 1;
            assert!(accepted < 100_000);
        }
        let per_second = f64::from(accepted) / start.elapsed().as_secs_f64();
        assert!((190.0..=210.0).contains(&per_second), "{per_second}");
        assert!(start.elapsed() > DELAY_LIMIT / 2, "{:?}", start.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_pauses_between_bursts_is_never_disconnected() {
        let mut rate = MessageRate::default();
        for _ in 0..10_000 {
            for _ in 0..BURST.get() {
                assert_ne!(rate.take(), RateDecision::Disconnect);
            }
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    }
}
