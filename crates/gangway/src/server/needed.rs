//! A server that stays for as long as somebody needs it.

use std::time::Duration;

use tokio::time::Instant;

use super::App;

/// How often it is looked.
const LOOK: Duration = Duration::from_millis(250);

impl App {
    /// Whether somebody is connected, or something goes on that nobody needs to watch.
    fn is_needed(&self) -> bool {
        self.http.metrics.connections.get() > 0
            || self.hub.is_busy()
            || self.tools.installs.are_underway()
            || self.models.is_fetching()
    }

    /// Done once nobody was connected, and nothing went on, for so long.
    pub async fn unneeded(&self, patience: Duration) {
        let mut needed = Instant::now();
        loop {
            tokio::time::sleep(LOOK).await;
            if self.is_needed() {
                needed = Instant::now();
            } else if needed.elapsed() >= patience {
                return;
            }
        }
    }
}
