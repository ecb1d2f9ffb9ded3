//! The tools of the open pages of a session, with approvals, and those to read the pages, for remote agents.

use std::sync::Arc;

use futures_util::future::{BoxFuture, ready};
use gangway_core::{
    Approval, Caller, Choice, SessionId, Source, Tool, ToolError, ToolName, ToolSource, Toolbox,
};
use gangway_pages::{PageReader, PageTools, is_reader};
use gangway_tools::{Toolset, approvals::ApprovedTools};
use serde_json::Value;
use tokio::sync::watch;

/// Reaches the pages of the caller's session, and neither other pages nor MCP servers.
pub(super) struct SessionPages {
    pub(super) pages: Arc<PageTools>,
    pub(super) reader: Arc<PageReader>,
    pub(super) toolset: Arc<Toolset>,
    pub(super) approved: Arc<ApprovedTools>,
}

impl SessionPages {
    /// Checks that a tool belongs to a page of this session that no MCP server of the same name hides.
    fn caller(&self, session: SessionId, tool: &ToolName) -> Result<Caller, ToolError> {
        let caller = Caller {
            session: Some(session),
            source: Source::Agent {
                name: gangway_remote::AGENT.to_owned(),
            },
            version: None,
        };
        let source = self.toolset.source_of(tool);
        source.ok_or_else(|| ToolError::NotFound(tool.clone()))?;
        self.pages.page_of(&caller, tool).map(|_| caller)
    }
}

impl Toolbox for SessionPages {
    fn tools<'a>(&'a self, session: SessionId, sentence: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        Box::pin(async move {
            let mut tools = self.pages.tools(session, sentence).await;
            tools.extend(self.reader.listed(session));
            self.toolset.visible(tools)
        })
    }

    fn approval<'a>(
        &'a self,
        session: SessionId,
        tool: &'a ToolName,
        arguments: &'a Value,
    ) -> BoxFuture<'a, Result<Approval, ToolError>> {
        match self.caller(session, tool) {
            _ if is_reader(tool) => Box::pin(ready(Ok(Approval::NotNeeded))),
            Ok(_) => self.approved.approval(session, tool, arguments),
            Err(error) => Box::pin(ready(Err(error))),
        }
    }

    fn chosen<'a>(
        &'a self,
        session: SessionId,
        tool: &'a ToolName,
        choice: Choice,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        self.approved.chosen(session, tool, choice)
    }

    fn call(
        &self,
        session: SessionId,
        tool: ToolName,
        arguments: Value,
    ) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            if is_reader(&tool) {
                return self.reader.call_in(session, &tool, arguments).await;
            }
            let caller = self.caller(session, &tool)?;
            self.pages.call(&caller, &tool, arguments).await
        })
    }
}

impl gangway_remote::SessionPages for SessionPages {
    fn last_tools(&self, session: SessionId) -> Vec<Arc<Tool>> {
        let pages = self.pages.pages.of_session(session).into_iter();
        let tools = pages.flat_map(|page| page.last_tools());
        let mut tools: Vec<_> = tools.map(|listed| listed.tool).collect();
        tools.extend(self.reader.listed(session));
        self.toolset.visible(tools)
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.pages.pages.changes()
    }
}
