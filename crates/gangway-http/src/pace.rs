//! How fast a client may talk on a WebSocket: a flood is slowed down first, and ended when it goes on.

use std::time::Duration;

use tokio::time::Instant;

/// Messages a second.
pub const RATE: u32 = 200;

/// Messages that may come at once.
pub const BURST: u32 = 400;

/// Whoever is held back for longer than this together, without ever falling silent, floods.
const PATIENCE: Duration = Duration::from_secs(10);

/// A bucket that fills with time.
pub struct Pace {
    left: f64,
    at: Instant,
    held: Duration,
}

/// What a message meets with.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    /// It is taken.
    Go,
    /// It is taken after this time.
    Wait(Duration),
    /// It is one too many.
    Flood,
}

impl Default for Pace {
    fn default() -> Self {
        Self::new()
    }
}

impl Pace {
    /// A bucket that is full.
    #[must_use]
    pub fn new() -> Self {
        Self {
            left: BURST.into(),
            at: Instant::now(),
            held: Duration::ZERO,
        }
    }

    /// Takes one message in.
    pub fn take(&mut self) -> Verdict {
        let now = Instant::now();
        self.left = (self.left + (now - self.at).as_secs_f64() * f64::from(RATE)).min(BURST.into());
        self.at = now;
        if self.left >= f64::from(BURST / 2) {
            self.held = Duration::ZERO;
        }
        self.left -= 1.0;
        if self.left >= 0.0 {
            return Verdict::Go;
        }
        let wait = Duration::from_secs_f64(-self.left / f64::from(RATE));
        self.held += wait;
        match self.held > PATIENCE {
            true => Verdict::Flood,
            false => Verdict::Wait(wait),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_taken_a_flood_is_slowed_and_then_ended() {
        let mut pace = Pace::new();
        for _ in 0..400 {
            assert_eq!(pace.take(), Verdict::Go);
        }
        assert!(matches!(pace.take(), Verdict::Wait(_)));
        let mut waited = 0;
        loop {
            match pace.take() {
                Verdict::Wait(time) => tokio::time::sleep(time).await,
                Verdict::Flood => break,
                Verdict::Go => {}
            }
            waited += 1;
            assert!(waited < 100_000);
        }
        assert!(waited > 1000, "{waited}");
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_falls_silent_begins_anew() {
        let mut pace = Pace::new();
        for _ in 0..10_000 {
            for _ in 0..400 {
                assert_ne!(pace.take(), Verdict::Flood);
            }
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    }
}
