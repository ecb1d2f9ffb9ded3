//! Pages with a socket of their own: they keep their tools and open calls while they reconnect.

use std::{
    collections::HashMap,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use gangway_core::{ToolError, event::now};
use parking_lot::Mutex;
use serde_json::Value;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Page,
    mailbox::{Mailbox, ToPage},
    offer::OfferedTool,
    page::NewPage,
    registered::{Accepted, PageView, Registered},
    registry::{OpenPage, Pages, TooManyPages},
};

/// How long a page may take to reconnect before it counts as closed; its open calls fail then.
pub const GRACE: Duration = Duration::from_secs(5);

/// The pages of one protocol.
pub struct SocketPages {
    pages: Arc<Pages>,
    /// Timeout of a call.
    timeout: Duration,
    tasks: TaskTracker,
    stop: CancellationToken,
    open: Mutex<HashMap<String, Arc<Document>>>,
}

struct Document {
    registered: Arc<Registered>,
    mailbox: Arc<Mailbox>,
    page: Arc<Page>,
    /// The number of its newest connection, and the page for as long as it is open.
    connection: Mutex<(u64, Option<OpenPage>)>,
}

/// A connection of a page. A page whose connection is dropped may reconnect, unless it closed it.
pub struct Connected {
    owner: Weak<SocketPages>,
    document: Arc<Document>,
    key: Option<String>,
    number: u64,
    closed: AtomicBool,
}

impl SocketPages {
    /// `tasks` are awaited when `stop` is cancelled.
    #[must_use]
    pub fn new(
        pages: Arc<Pages>,
        timeout: Duration,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            pages,
            timeout,
            tasks,
            stop,
            open: Mutex::default(),
        })
    }

    /// Connects a page: the one that had this key before, or a new one.
    pub fn connect(
        self: &Arc<Self>,
        key: Option<String>,
        new: NewPage,
        view: impl FnOnce() -> Box<dyn PageView>,
    ) -> Result<Connected, TooManyPages> {
        let mut open = self.open.lock();
        let before = key.as_ref().and_then(|key| open.get(key)).cloned();
        let document = match before {
            Some(document) => document,
            None => {
                let document = Arc::new(self.document(new, view())?);
                if let Some(key) = &key {
                    open.insert(key.clone(), Arc::clone(&document));
                }
                document
            }
        };
        let number = {
            let mut connection = document.connection.lock();
            connection.0 += 1;
            connection.0
        };
        drop(open);
        let calls = document.registered.calls();
        calls.resend(|open| document.mailbox.restart(open));
        document.page.set_present(true);
        Ok(Connected {
            owner: Arc::downgrade(self),
            document,
            key,
            number,
            closed: AtomicBool::new(false),
        })
    }

    fn document(&self, new: NewPage, view: Box<dyn PageView>) -> Result<Document, TooManyPages> {
        let mailbox = Arc::<Mailbox>::default();
        // From the clock: a page that outlives this process must not take a new call for one that it has carried out.
        let last = u64::try_from(now().as_microsecond()).unwrap_or_default();
        let link = Arc::clone(&mailbox) as _;
        let (registered, open) =
            Registered::open(&self.pages, new, link, view, self.timeout, last)?;
        Ok(Document {
            registered,
            mailbox,
            page: Arc::clone(&open.page),
            connection: Mutex::new((0, Some(open))),
        })
    }

    /// Closes a page, unless it has connected again.
    fn leave(&self, document: &Document, key: Option<&String>, number: u64) {
        let mut open = self.open.lock();
        let mut connection = document.connection.lock();
        if connection.0 != number {
            return;
        }
        if let Some(key) = key {
            open.remove(key);
        }
        drop(open);
        let page = connection.1.take();
        drop(connection);
        document.registered.leave();
        drop(page);
    }
}

impl Connected {
    #[must_use]
    pub fn page(&self) -> &Arc<Page> {
        &self.document.page
    }

    /// The next message for the page.
    pub async fn next(&self) -> ToPage {
        let document = &self.document;
        let is_newest = || document.connection.lock().0 == self.number;
        document.mailbox.next(is_newest).await
    }

    /// Replaces the tools of the page; with `reset`, another document took the place of the one that offered before.
    pub fn offer(&self, tools: Vec<OfferedTool>, reset: bool) -> Accepted {
        if reset {
            self.document.registered.reset();
        }
        self.document.registered.offer(tools)
    }

    /// Delivers the result of a call; false if no such call is open.
    pub fn answer(&self, call: u64, result: Result<Value, ToolError>) -> bool {
        self.document.registered.answer(call, result)
    }

    /// The page ended the connection, and will not come back.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        if let Some(owner) = self.owner.upgrade() {
            owner.leave(&self.document, self.key.as_ref(), self.number);
        }
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        let Some(owner) = self
            .owner
            .upgrade()
            .filter(|_| !self.closed.load(Ordering::Relaxed))
        else {
            return;
        };
        let (document, key, number) = (Arc::clone(&self.document), self.key.take(), self.number);
        if key.is_none() {
            owner.leave(&document, None, number);
            return;
        }
        let (tasks, stop) = (owner.tasks.clone(), owner.stop.clone());
        if document.connection.lock().0 == number {
            document.page.set_present(false);
        }
        tasks.spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(GRACE) => {}
                () = stop.cancelled() => {}
            }
            owner.leave(&document, key.as_ref(), number);
        });
    }
}
