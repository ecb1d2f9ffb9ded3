//! What the browser's side has asked and was not answered yet.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::{message::RequestId, pages::Line, problem::Problem};

/// Requests that may be open.
pub const REQUESTS: usize = 1024;

/// Those of them that may be streams.
pub const STREAMS: usize = 64;

/// Pages that may be open besides.
pub const PAGES: usize = 1000;

/// Bytes of what was asked and is not done with, of all requests and pages together.
const HELD: usize = 64 << 20;

/// Bytes of answers that wait until the browser reads them.
pub(crate) const PENDING: usize = 256 << 20;

/// How much may wait.
#[derive(Clone)]
pub(crate) struct Room(Arc<Semaphore>);

/// A share of it, given back when it is dropped.
pub(crate) type Share = OwnedSemaphorePermit;

impl Default for Room {
    fn default() -> Self {
        Self::of(HELD)
    }
}

impl Room {
    /// For so many bytes.
    pub(crate) fn of(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes)))
    }

    /// Waits for room for so many bytes. Nobody who holds a share may wait for another.
    pub(crate) async fn wait(&self, bytes: usize) -> Option<Share> {
        let bytes = u32::try_from(bytes).ok()?;
        // It is never closed.
        Arc::clone(&self.0).acquire_many_owned(bytes).await.ok()
    }

    /// Room for so many bytes, if there is any.
    pub(crate) fn share(&self, bytes: usize) -> Option<Share> {
        let bytes = u32::try_from(bytes).ok()?;
        Arc::clone(&self.0).try_acquire_many_owned(bytes).ok()
    }
}

/// What kind of request it is, as far as it is counted.
pub(crate) enum Sort {
    /// Answered once.
    Plain,
    /// With events before the answer.
    Stream,
    /// A page, and the way to it.
    Page(Line),
}

/// A request on its way to an answer.
#[derive(Clone)]
pub(crate) struct Open {
    pub(crate) id: RequestId,
    /// Told when nobody wants the answer any more.
    pub(crate) stop: CancellationToken,
    /// Told when the answer is written.
    pub(crate) ended: CancellationToken,
    cancelled: Arc<AtomicBool>,
}

impl Open {
    /// Notes that the answer will be that it was cancelled.
    pub(crate) fn give_up(&self) -> Problem {
        self.cancelled.store(true, Ordering::Relaxed);
        Problem::cancelled()
    }

    /// Whether that was the answer.
    pub(crate) fn was_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

struct Entry {
    open: Open,
    sort: Sort,
}

/// All of them.
#[derive(Default)]
pub(crate) struct Requests {
    open: Mutex<HashMap<RequestId, Entry>>,
}

impl Requests {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, Entry>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens one, if its name is free and there is room.
    pub(crate) fn begin(&self, id: RequestId, sort: Sort) -> Result<Open, Problem> {
        let mut requests = self.lock();
        if requests.contains_key(&id) {
            return Err(Problem::duplicate());
        }
        let count = |fits: fn(&Sort) -> bool| requests.values().filter(|e| fits(&e.sort)).count();
        let pages = |sort: &Sort| matches!(sort, Sort::Page(_));
        let full = match sort {
            // Only who comes near the limit pays for counting.
            Sort::Page(_) if requests.len() >= PAGES && count(pages) >= PAGES => {
                Some(format!("at most {PAGES} pages may be open"))
            }
            Sort::Page(_) => None,
            _ if requests.len() >= REQUESTS
                && count(|sort| !matches!(sort, Sort::Page(_))) >= REQUESTS =>
            {
                Some(format!(
                    "at most {REQUESTS} requests may be open; wait for answers"
                ))
            }
            Sort::Stream
                if requests.len() >= STREAMS
                    && count(|sort| matches!(sort, Sort::Stream)) >= STREAMS =>
            {
                Some(format!("at most {STREAMS} streams may be open; cancel one"))
            }
            _ => None,
        };
        if let Some(words) = full {
            return Err(Problem::too_many(words));
        }
        let open = Open {
            id: id.clone(),
            stop: CancellationToken::new(),
            ended: CancellationToken::new(),
            cancelled: Arc::default(),
        };
        let entry = Entry {
            open: open.clone(),
            sort,
        };
        requests.insert(id, entry);
        Ok(open)
    }

    /// Whether a request or page of this name is open.
    pub(crate) fn is_open(&self, id: &RequestId) -> bool {
        self.lock().contains_key(id)
    }

    /// A request that can be cancelled, which a page cannot.
    pub(crate) fn find(&self, id: &RequestId) -> Option<Open> {
        let requests = self.lock();
        let entry = requests.get(id)?;
        let plain = !matches!(entry.sort, Sort::Page(_));
        plain.then(|| entry.open.clone())
    }

    /// The way to a page.
    pub(crate) fn page(&self, id: &RequestId) -> Option<Line> {
        match &self.lock().get(id)?.sort {
            Sort::Page(line) => Some(line.clone()),
            _ => None,
        }
    }

    /// Its answer is on its way out: the name is free again.
    pub(crate) fn end(&self, open: &Open) {
        self.lock().remove(&open.id);
        open.ended.cancel();
    }
}
