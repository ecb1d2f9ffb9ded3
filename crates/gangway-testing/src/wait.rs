//! Polling for results of other processes or tasks.

use std::time::Duration;

/// Polls until there is a result; fails after half a minute.
pub async fn eventually<T, F: Future<Output = Option<T>>>(mut ask: impl FnMut() -> F) -> T {
    for _ in 0..1500 {
        if let Some(answer) = ask().await {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("timeout");
}
