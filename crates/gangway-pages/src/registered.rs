//! Pages that register their tools here: apps, applets and sites.

use std::{
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};

use futures_util::future::{BoxFuture, ready};
use gangway_core::{ToolError, ToolName};
use gangway_schema::Clock;
use parking_lot::Mutex;
use serde_json::Value;

use crate::{
    calls::{Calls, PageLink},
    offer::{OfferedTool, PageTool, RefusedTool, replaced},
    page::{ListedTool, NewPage, PageChannel, PageEvents},
    registry::{OpenPage, Pages, TooManyPages},
};

/// What a page shows and does, as its protocol knows it.
pub trait PageView: Send + Sync {
    /// What the page shows or works on now.
    fn state(&self) -> BoxFuture<'_, Result<Value, ToolError>>;

    /// The events of the page after a number; see [`PageChannel::events`].
    fn events(
        &self,
        after: Option<u64>,
        wait: Duration,
    ) -> BoxFuture<'_, Result<PageEvents, ToolError>>;
}

/// The tools that a page registered, and the calls of them.
pub struct Registered {
    pages: Weak<Pages>,
    link: Arc<dyn PageLink>,
    view: Box<dyn PageView>,
    tools: Mutex<Vec<Arc<PageTool>>>,
    calls: Calls,
    clock: Clock,
    open: OnceLock<Weak<crate::Page>>,
}

/// What became of the tools that a page offered.
#[derive(Debug)]
pub struct Accepted {
    /// The name of their server, as agents see it; `None` for a page without tools.
    pub server: Option<String>,
    /// The names of the accepted ones.
    pub tools: Vec<String>,
    pub refused: Vec<RefusedTool>,
}

impl Registered {
    /// Opens a page. `timeout` is that of a call; the numbers of calls start after `last`.
    pub fn open(
        pages: &Arc<Pages>,
        new: NewPage,
        link: Arc<dyn PageLink>,
        view: Box<dyn PageView>,
        timeout: Duration,
        last: u64,
    ) -> Result<(Arc<Self>, OpenPage), TooManyPages> {
        let registered = Arc::new(Self {
            pages: Arc::downgrade(pages),
            link,
            view,
            tools: Mutex::default(),
            calls: Calls::new(timeout, last),
            clock: Clock::default(),
            open: OnceLock::new(),
        });
        let open = pages.open(new, Arc::clone(&registered) as _)?;
        let _ = registered.open.set(Arc::downgrade(&open.page));
        Ok((registered, open))
    }

    /// Replaces the tools of the page.
    pub fn offer(&self, offered: Vec<OfferedTool>) -> Accepted {
        let mut tools = self.tools.lock();
        let (new, refused) = replaced(&tools, offered);
        let same =
            new.len() == tools.len() && new.iter().zip(&*tools).all(|(a, b)| Arc::ptr_eq(a, b));
        let names: Vec<_> = new.iter().map(|tool| tool.name.clone()).collect();
        *tools = new;
        let any = !tools.is_empty();
        drop(tools);
        let (pages, page) = (self.pages.upgrade(), self.page());
        if let (Some(pages), Some(page)) = (&pages, &page) {
            if any {
                pages.name(page);
            }
            if !same {
                pages.offered(page, names.clone());
            }
        }
        Accepted {
            server: page.and_then(|page| page.server().map(str::to_owned)),
            tools: names,
            refused,
        }
    }

    /// Delivers the page's result; false if no such call is open.
    pub fn answer(&self, call: u64, result: Result<Value, ToolError>) -> bool {
        self.calls.answer(call, result)
    }

    /// Another document took the page's place: it has no tools yet, and open calls fail.
    pub fn reset(&self) {
        self.calls.reset();
        self.offer(Vec::new());
    }

    /// The page was closed: it has no tools any more, and open calls fail at once.
    pub fn leave(&self) {
        self.tools.lock().clear();
        self.calls.leave();
    }

    /// The tools as they are called under another server name.
    #[must_use]
    pub fn tools_under(&self, server: &str) -> Vec<Arc<gangway_core::Tool>> {
        let listed = self.last_tools(server).into_iter();
        listed.map(|listed| listed.tool).collect()
    }

    pub(crate) fn calls(&self) -> &Calls {
        &self.calls
    }

    fn page(&self) -> Option<Arc<crate::Page>> {
        self.open.get().and_then(Weak::upgrade)
    }
}

impl PageChannel for Registered {
    fn tools<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Vec<ListedTool>> {
        Box::pin(ready(self.last_tools(server)))
    }

    fn last_tools(&self, server: &str) -> Vec<ListedTool> {
        let tools = self.tools.lock();
        let listed = tools.iter().filter_map(|tool| tool.listed(server));
        listed.collect()
    }

    fn known(&self, tool: &ToolName) -> Option<ListedTool> {
        let tools = self.tools.lock();
        let found = tools.iter().find(|one| one.name == tool.tool())?;
        found.listed(tool.server())
    }

    fn call<'a>(
        &'a self,
        tool: &'a ToolName,
        arguments: Value,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        Box::pin(async move {
            let found = {
                let tools = self.tools.lock();
                tools.iter().find(|one| one.name == tool.tool()).cloned()
            };
            let found = found.ok_or_else(|| ToolError::NotFound(tool.clone()))?;
            let arguments = found.check(&self.clock, tool, arguments).await?;
            self.calls.call(&*self.link, tool, arguments).await
        })
    }

    fn state(&self) -> BoxFuture<'_, Result<Value, ToolError>> {
        self.view.state()
    }

    fn events(
        &self,
        after: Option<u64>,
        wait: Duration,
    ) -> BoxFuture<'_, Result<PageEvents, ToolError>> {
        self.view.events(after, wait)
    }
}
