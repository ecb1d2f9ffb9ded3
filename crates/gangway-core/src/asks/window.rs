//! Windows that show a single request: closing the last one dismisses the request.

use std::{sync::Arc, time::Duration};

use super::{AskId, Asks, Reply};

/// How long a window may be disconnected, as during a reload.
const RELOAD: Duration = Duration::from_secs(1);

/// The windows of one request.
#[derive(Default)]
pub(super) struct Windows {
    loaded: bool,
    open: usize,
    closed: u64,
}

/// A window of a request, open until dropped.
pub struct AskWindow {
    asks: Arc<Asks>,
    id: AskId,
}

impl Asks {
    fn windows<T>(&self, id: &AskId, change: impl FnOnce(&mut Windows) -> T) -> Option<T> {
        let mut state = self.state.lock();
        // Also while an answer is being handled: it may fail, and then the request stays open.
        let mut open = state.open.values_mut();
        let entry = open.find(|entry| entry.ask.id == *id)?;
        Some(change(&mut entry.windows))
    }

    /// A window that shows this request; `None` if the request is not open.
    #[must_use]
    pub fn window(self: &Arc<Self>, id: &AskId) -> Option<AskWindow> {
        self.state.lock().find(id)?;
        self.windows(id, |windows| {
            windows.open += 1;
            windows.loaded = true;
        })?;
        Some(AskWindow {
            asks: Arc::clone(self),
            id: id.clone(),
        })
    }

    /// A window for this request begins to load. From now on its connection decides when it is closed.
    pub fn window_loads(&self, id: &AskId) {
        self.windows(id, |windows| windows.loaded = true);
    }

    /// Whether a window for this request has begun to load.
    #[must_use]
    pub fn has_window(&self, id: &AskId) -> bool {
        self.windows(id, |windows| windows.loaded).unwrap_or(false)
    }
}

impl Drop for AskWindow {
    fn drop(&mut self) {
        let closed = self.asks.windows(&self.id, |windows| {
            windows.open -= 1;
            windows.closed += 1;
            windows.closed
        });
        let (Some(closed), Ok(runtime)) = (closed, tokio::runtime::Handle::try_current()) else {
            return;
        };
        let (asks, id) = (Arc::clone(&self.asks), self.id.clone());
        runtime.spawn(async move {
            tokio::time::sleep(RELOAD).await;
            let gone = |windows: &mut Windows| windows.open == 0 && windows.closed == closed;
            if asks.windows(&id, gone) == Some(true) {
                let _ = asks.answer(&id, Reply::default()).await;
            }
        });
    }
}
