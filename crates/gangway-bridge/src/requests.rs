//! Open requests of the extension.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::{message::RequestId, pages::PageChannel, problem::Problem};

/// Limit on open requests.
pub const REQUESTS: usize = 1024;

/// Limit on streams among them.
pub const STREAMS: usize = 64;

/// Limit on open pages.
pub const PAGES: usize = 1000;

/// Memory limit of all open requests and pages.
const HELD: usize = 64 << 20;

/// Memory limit of answers that the browser has not read yet.
pub(crate) const PENDING: usize = 256 << 20;

/// A memory budget.
#[derive(Clone)]
pub(crate) struct MemoryBudget(Arc<Semaphore>);

/// Released on drop.
pub(crate) type BudgetShare = OwnedSemaphorePermit;

impl Default for MemoryBudget {
    fn default() -> Self {
        Self::of(HELD)
    }
}

impl MemoryBudget {
    pub(crate) fn of(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes)))
    }

    /// Waits for this many bytes. The holder of a share must not wait for another.
    pub(crate) async fn wait(&self, bytes: usize) -> Option<BudgetShare> {
        let bytes = u32::try_from(bytes).ok()?;
        // The semaphore is never closed.
        Arc::clone(&self.0).acquire_many_owned(bytes).await.ok()
    }

    /// `None` if there is not enough room.
    pub(crate) fn share(&self, bytes: usize) -> Option<BudgetShare> {
        let bytes = u32::try_from(bytes).ok()?;
        Arc::clone(&self.0).try_acquire_many_owned(bytes).ok()
    }
}

/// Kinds of requests, for the limits.
pub(crate) enum RequestKind {
    Plain,
    /// With events before the answer.
    Stream,
    Page(PageChannel),
}

#[derive(Clone)]
pub(crate) struct OpenRequest {
    pub(crate) id: RequestId,
    /// Cancelled when the answer is no longer wanted.
    pub(crate) stop: CancellationToken,
    /// Cancelled when the answer is written.
    pub(crate) ended: CancellationToken,
    cancelled: Arc<AtomicBool>,
}

impl OpenRequest {
    /// Marks it as cancelled.
    pub(crate) fn give_up(&self) -> Problem {
        self.cancelled.store(true, Ordering::Relaxed);
        Problem::cancelled()
    }

    pub(crate) fn was_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

struct RequestEntry {
    open: OpenRequest,
    sort: RequestKind,
}

#[derive(Default)]
pub(crate) struct Requests {
    open: Mutex<HashMap<RequestId, RequestEntry>>,
}

impl Requests {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, RequestEntry>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a request, if its id is unused and the limits allow it.
    pub(crate) fn begin(&self, id: RequestId, sort: RequestKind) -> Result<OpenRequest, Problem> {
        let mut requests = self.lock();
        if requests.contains_key(&id) {
            return Err(Problem::duplicate());
        }
        let count =
            |fits: fn(&RequestKind) -> bool| requests.values().filter(|e| fits(&e.sort)).count();
        let pages = |sort: &RequestKind| matches!(sort, RequestKind::Page(_));
        let full = match sort {
            // Counting is needed only near the limit.
            RequestKind::Page(_) if requests.len() >= PAGES && count(pages) >= PAGES => {
                Some(format!("at most {PAGES} pages may be open"))
            }
            RequestKind::Page(_) => None,
            _ if requests.len() >= REQUESTS
                && count(|sort| !matches!(sort, RequestKind::Page(_))) >= REQUESTS =>
            {
                Some(format!(
                    "at most {REQUESTS} requests may be open; wait for answers"
                ))
            }
            RequestKind::Stream
                if requests.len() >= STREAMS
                    && count(|sort| matches!(sort, RequestKind::Stream)) >= STREAMS =>
            {
                Some(format!("at most {STREAMS} streams may be open; cancel one"))
            }
            _ => None,
        };
        if let Some(message) = full {
            return Err(Problem::too_many(message));
        }
        let open = OpenRequest {
            id: id.clone(),
            stop: CancellationToken::new(),
            ended: CancellationToken::new(),
            cancelled: Arc::default(),
        };
        let entry = RequestEntry {
            open: open.clone(),
            sort,
        };
        requests.insert(id, entry);
        Ok(open)
    }

    pub(crate) fn is_open(&self, id: &RequestId) -> bool {
        self.lock().contains_key(id)
    }

    /// A request that can be cancelled; pages cannot.
    pub(crate) fn find(&self, id: &RequestId) -> Option<OpenRequest> {
        let requests = self.lock();
        let entry = requests.get(id)?;
        let plain = !matches!(entry.sort, RequestKind::Page(_));
        plain.then(|| entry.open.clone())
    }

    pub(crate) fn page(&self, id: &RequestId) -> Option<PageChannel> {
        match &self.lock().get(id)?.sort {
            RequestKind::Page(line) => Some(line.clone()),
            _ => None,
        }
    }

    /// Frees the id; the answer is being written.
    pub(crate) fn end(&self, open: &OpenRequest) {
        self.lock().remove(&open.id);
        open.ended.cancel();
    }
}
