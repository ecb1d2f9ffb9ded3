//! The tools of open pages as a source of tools for every agent.

use std::sync::Arc;

use futures_util::future::{BoxFuture, join_all};
use gangway_core::{Caller, SessionId, ToApprove, Tool, ToolError, ToolName, ToolSource};
use serde_json::Value;
use tokio::sync::watch;

use crate::{
    page::Page,
    registry::{PREFIX, Pages},
};

/// The tools of all open pages.
pub struct PageTools {
    pub pages: Arc<Pages>,
}

impl PageTools {
    #[must_use]
    pub fn new(pages: Arc<Pages>) -> Self {
        Self { pages }
    }

    /// The page of a tool; a caller with a session can only access that session's pages.
    pub fn page_of(&self, caller: &Caller, tool: &ToolName) -> Result<Arc<Page>, ToolError> {
        let page = self.pages.of_server(tool.server());
        let may = |page: &Arc<Page>| match caller.session {
            Some(session) => page.session() == Some(session),
            None => page.is_offered(),
        };
        page.filter(may)
            .ok_or_else(|| ToolError::NotFound(tool.clone()))
    }

    async fn call_page(
        &self,
        caller: &Caller,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        let page = self.page_of(caller, tool)?;
        match caller.session {
            // The session's own turns are logged anyway.
            Some(_) => page.channel.call(tool, arguments).await,
            None => {
                let by = caller.source.clone();
                self.pages.call_as(by, &page, tool, arguments).await
            }
        }
    }
}

impl ToolSource for PageTools {
    fn tools<'a>(&'a self, session: SessionId, _: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        Box::pin(offered(self.pages.of_session(session)))
    }

    fn all(&self) -> BoxFuture<'_, Vec<Arc<Tool>>> {
        let mut pages = self.pages.all();
        pages.retain(|page| page.is_offered());
        Box::pin(offered(pages))
    }

    fn servers(&self) -> Vec<String> {
        let pages = self.pages.all().into_iter();
        let offered = pages.filter(|page| page.is_offered());
        offered
            .filter_map(|page| page.server().map(str::to_owned))
            .collect()
    }

    fn has(&self, tool: &ToolName) -> bool {
        tool.server().starts_with(PREFIX)
    }

    fn call<'a>(
        &'a self,
        caller: &'a Caller,
        tool: &'a ToolName,
        arguments: Value,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        Box::pin(self.call_page(caller, tool, arguments))
    }

    fn changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.pages.changes())
    }

    fn calls_change_tools(&self) -> bool {
        true
    }

    fn to_approve(&self, tool: &ToolName) -> Result<Option<ToApprove>, ToolError> {
        let page = self.pages.of_server(tool.server());
        // A page may take calls of tools that it has not listed yet; those cannot be approved.
        let known = page.and_then(|page| Some((page.channel.known(tool)?, page)));
        let (known, page) = known.ok_or_else(|| ToolError::NotFound(tool.clone()))?;
        Ok(Some(ToApprove {
            tool: known.tool,
            is_read_only: known.read_only,
            target: page.target(),
            of_page: true,
        }))
    }

    fn is_read_only(&self, tool: &ToolName) -> Option<bool> {
        let page = self.pages.of_server(tool.server())?;
        Some(page.channel.known(tool)?.read_only)
    }
}

async fn offered(pages: Vec<Arc<Page>>) -> Vec<Arc<Tool>> {
    let asked = pages.iter().map(|page| page.tools());
    let found = join_all(asked).await.into_iter().flatten();
    found.map(|listed| listed.tool).collect()
}
