//! Shuts the server down when it was unused for a while, if it was started for a browser.

use std::time::Duration;

use tokio::time::Instant;

use crate::app::App;

/// Polling interval.
const LOOK: Duration = Duration::from_millis(250);

impl App {
    /// Whether a client is connected, or work is going on that needs no client.
    #[must_use]
    pub fn is_needed(&self) -> bool {
        self.http.metrics.connections.get() > 0
            || self.hub.is_busy()
            || self.tools.installs.are_underway()
            || self.models.is_fetching()
    }

    /// Resolves once the server was unused for this time.
    pub async fn unneeded(&self, timeout: Duration) {
        unneeded(|| self.is_needed(), timeout).await;
    }
}

async fn unneeded(is_needed: impl Fn() -> bool, timeout: Duration) {
    let mut needed = Instant::now();
    loop {
        tokio::time::sleep(LOOK).await;
        if is_needed() {
            needed = Instant::now();
        } else if needed.elapsed() >= timeout {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use futures_util::FutureExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_ends_once_it_was_unused_for_the_whole_timeout() {
        let needed = Cell::new(true);
        let end = unneeded(|| needed.get(), Duration::from_secs(60));
        let mut end = std::pin::pin!(end);
        let mut ended_after = async |seconds: u64| {
            // In small steps, as it looks.
            for _ in 0..seconds * 4 {
                if end.as_mut().now_or_never().is_some() {
                    return true;
                }
                tokio::time::advance(LOOK).await;
            }
            false
        };
        assert!(!ended_after(3600).await);
        needed.set(false);
        assert!(!ended_after(59).await);
        needed.set(true);
        assert!(!ended_after(1).await);
        needed.set(false);
        assert!(!ended_after(59).await);
        assert!(ended_after(3).await);
    }
}
