//! All tools of a session's agent: those of MCP servers and of Gangway's own sources.

use std::sync::Arc;

use futures_util::future::{BoxFuture, join_all};
use gangway_core::{
    Caller, OWN, SessionId, Source, Tool, ToolError, ToolName, ToolSource, Toolbox,
};
use gangway_mcp::{Host, read_result};
use serde_json::Value;
use tokio::sync::watch;

/// The tools of all sessions.
pub struct Toolset {
    host: Arc<Host>,
    sources: Vec<Arc<dyn ToolSource>>,
}

impl Toolset {
    /// The tools of these MCP servers and sources.
    #[must_use]
    pub fn new(host: Arc<Host>, sources: Vec<Arc<dyn ToolSource>>) -> Self {
        Self { host, sources }
    }

    #[must_use]
    pub fn sources(&self) -> &[Arc<dyn ToolSource>] {
        &self.sources
    }

    /// The source of a tool; `None` for tools of MCP servers, which take precedence over sources of the same name.
    #[must_use]
    pub fn source_of(&self, tool: &ToolName) -> Option<&Arc<dyn ToolSource>> {
        let source = self.sources.iter().find(|source| source.has(tool))?;
        (!self.is_mcp_server(tool.server())).then_some(source)
    }

    /// Tools of a source, except those that an MCP server of the same name hides.
    #[must_use]
    pub fn visible(&self, mut tools: Vec<Arc<Tool>>) -> Vec<Arc<Tool>> {
        if tools.is_empty() {
            return tools;
        }
        let servers = self.host.status();
        tools.retain(|tool| {
            let mut servers = servers.iter();
            !servers.any(|server| server.id.as_str() == tool.name.server())
        });
        tools
    }

    /// Counters that change with the list of tools.
    #[must_use]
    pub fn changes(&self) -> Vec<watch::Receiver<u64>> {
        let sources = self.sources.iter().filter_map(|source| source.changes());
        sources.chain([self.host.changes()]).collect()
    }

    fn is_mcp_server(&self, name: &str) -> bool {
        let known = self.host.status();
        known.iter().any(|server| server.id.as_str() == name)
    }

    /// The rest of a result that was truncated for this caller.
    pub fn read_on(
        &self,
        caller: &str,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        read_result::call(tool, arguments, |handle, offset| {
            self.host.rest(caller, handle, offset)
        })
    }
}

impl Toolbox for Toolset {
    fn tools<'a>(&'a self, session: SessionId, sentence: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        Box::pin(async move {
            let mut tools = self.host.tools();
            let sources = self.sources.iter();
            // At once, since some of them read the disk.
            let found = join_all(sources.map(|source| source.tools(session, sentence))).await;
            tools.extend(found.into_iter().flat_map(|found| self.visible(found)));
            tools
        })
    }

    fn reader(&self) -> Option<Arc<Tool>> {
        Some(read_result::tool())
    }

    fn offered_after<'a>(
        &'a self,
        session: SessionId,
        called: &'a [ToolName],
    ) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        Box::pin(async move {
            let mut tools = Vec::new();
            for source in self.sources.iter().filter(|one| one.calls_change_tools()) {
                let is_called = |tool| {
                    let called = self.source_of(tool);
                    called.is_some_and(|called| Arc::ptr_eq(called, source))
                };
                if called.iter().any(is_called) {
                    tools.extend(self.visible(source.tools(session, "").await));
                }
            }
            tools
        })
    }

    fn call(
        &self,
        session: SessionId,
        tool: ToolName,
        arguments: Value,
    ) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let reader = session.to_string();
            if read_result::is_read_result(&tool) {
                return self.read_on(&reader, &tool, arguments);
            }
            let Some(source) = self.source_of(&tool) else {
                return match tool.server() == OWN {
                    true => Err(ToolError::NotFound(tool)),
                    false => Toolbox::call(&*self.host, session, tool, arguments).await,
                };
            };
            let caller = Caller {
                session: Some(session),
                source: Source::Agent {
                    name: "builtin".to_owned(),
                },
                version: None,
            };
            let shown = source.call(&caller, &tool, arguments).await?;
            Ok(self.host.bound(&reader, &shown).unwrap_or(shown))
        })
    }
}
