//! Waiting for what another process or task does in its own time.

use std::time::Duration;

/// Asks again and again until there is an answer; gives up after half a minute.
pub async fn eventually<T, F: Future<Output = Option<T>>>(mut ask: impl FnMut() -> F) -> T {
    for _ in 0..1500 {
        if let Some(answer) = ask().await {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it did not happen");
}
