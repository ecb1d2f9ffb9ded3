//! Limits the concurrent tool calls of each origin to two, over all of its pages.

use std::{collections::HashMap, sync::Arc};

use gangway_core::{Origin, ToolError};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum number of running and of waiting calls.
const AT_ONCE: usize = 2;
const WAITING: usize = 32;

/// The lanes of all origins.
#[derive(Default)]
pub(crate) struct Lanes {
    lanes: Mutex<HashMap<Origin, Arc<Lane>>>,
}

struct Lane {
    /// Running and waiting calls.
    places: Arc<Semaphore>,
    /// Running calls.
    turns: Arc<Semaphore>,
}

/// A slot, released on drop.
pub(crate) struct LanePermit {
    _place: OwnedSemaphorePermit,
    _turn: OwnedSemaphorePermit,
}

impl Lanes {
    /// Waits for a slot, unless too many calls are already waiting.
    pub(crate) async fn turn(&self, origin: &Origin) -> Result<LanePermit, ToolError> {
        let lane = {
            let mut lanes = self.lock();
            // Removes unused lanes, so that the table stays small.
            lanes.retain(|_, lane| lane.places.available_permits() < AT_ONCE + WAITING);
            let lane = lanes.entry(origin.clone()).or_insert_with(|| {
                Arc::new(Lane {
                    places: Arc::new(Semaphore::new(AT_ONCE + WAITING)),
                    turns: Arc::new(Semaphore::new(AT_ONCE)),
                })
            });
            let place = Arc::clone(&lane.places).try_acquire_owned();
            let busy = |_| {
                ToolError::Busy("too many tool calls at once; wait for some to finish".to_owned())
            };
            (Arc::clone(&lane.turns), place.map_err(busy)?)
        };
        let (turns, place) = lane;
        let turn = turns.acquire_owned().await;
        let turn = turn.map_err(|_| ToolError::Busy("the server is stopping".to_owned()))?;
        Ok(LanePermit {
            _place: place,
            _turn: turn,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Origin, Arc<Lane>>> {
        self.lanes.lock()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn two_run_others_wait_and_one_more_is_reported() {
        let lanes = Lanes::default();
        let origin: Origin = "https://a.example".parse().unwrap();
        let first = lanes.turn(&origin).await.unwrap();
        let _second = lanes.turn(&origin).await.unwrap();
        let mut waiting: Vec<_> = (0..WAITING)
            .map(|_| Box::pin(lanes.turn(&origin)))
            .collect();
        for one in &mut waiting {
            assert!(one.as_mut().now_or_never().is_none());
        }
        assert!(matches!(lanes.turn(&origin).await, Err(ToolError::Busy(_))));
        let other: Origin = "https://b.example".parse().unwrap();
        assert!(lanes.turn(&other).await.is_ok());
        drop(first);
        assert!(waiting.remove(0).await.is_ok());
    }
}
