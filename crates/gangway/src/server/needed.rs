//! A server that stays for as long as somebody needs it.

use std::time::Duration;

use tokio::time::Instant;

use super::App;

/// How often it is looked.
const LOOK: Duration = Duration::from_millis(250);

impl App {
    /// Done once nobody was connected, and no turn ran, for so long.
    pub async fn unneeded(&self, patience: Duration) {
        let mut needed = Instant::now();
        loop {
            tokio::time::sleep(LOOK).await;
            if self.metrics.connections.get() > 0 || self.hub.is_busy() {
                needed = Instant::now();
            } else if needed.elapsed() >= patience {
                return;
            }
        }
    }
}
