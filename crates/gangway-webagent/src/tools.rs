//! Tools as pages see them: the user's, those of the site's MCP servers, and those of the page itself.

use std::sync::Arc;

use gangway_core::{Origin, Scope, Source, Tool, ToolError, ToolName};
use gangway_mcp::read_result;
use gangway_pages::{Page, PageChannel, is_reader, read_pages, reader_tools};
use serde_json::{Value, json};

use crate::{
    SiteError, Sites, Visit,
    own_tools::PAGE,
    permissions::{Actor, PermissionUse},
};

/// The context of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolContext {
    /// The page itself.
    Page,
    /// A task of the page for an agent.
    Run,
    /// The user, in a chat that the page opened.
    Chat,
}

impl Sites {
    /// All tools that a page can name.
    pub(crate) fn tools_of(&self, visit: &Visit) -> Vec<Arc<Tool>> {
        let mut tools = self.host.tools();
        tools.extend(self.servers.tools(&visit.origin));
        tools.extend(visit.own_tools.tools_under(PAGE));
        tools.extend(self.tools_of_pages(visit));
        tools
    }

    /// The tools of the other pages of its session, as they were last offered, and those to read them.
    pub(crate) fn tools_of_pages(&self, visit: &Visit) -> Vec<Arc<Tool>> {
        let pages = self.other_pages(visit);
        if pages.is_empty() {
            return Vec::new();
        }
        let listed = pages.iter().flat_map(|page| page.last_tools());
        let tools = listed.map(|listed| listed.tool);
        tools.chain(reader_tools(false)).collect()
    }

    fn other_pages(&self, visit: &Visit) -> Vec<Arc<Page>> {
        let Some(session) = visit.session_page.session() else {
            return Vec::new();
        };
        let servers = self.host.status();
        let is_free = |page: &Page| {
            let mut servers = servers.iter();
            !servers.any(|server| Some(server.id.as_str()) == page.server())
        };
        let mut pages = self.pages.of_session(session);
        pages.retain(|page| page.id != visit.session_page.id && is_free(page));
        pages
    }

    /// Lists the allowed ones.
    pub fn list_tools(&self, visit: &Visit) -> Value {
        let shown = self.tools_of(visit).into_iter().map(|tool| {
            json!({
                "name": tool.name.to_string(), "description": tool.description,
                "inputSchema": tool.input_schema, "serverId": tool.name.server(),
            })
        });
        Value::Array(shown.collect())
    }

    /// Whether a tool may be called: checks the scope, then the list of tools.
    pub(crate) fn may_call(
        &self,
        visit: &Visit,
        tool: &ToolName,
        purpose: ToolContext,
    ) -> Result<(), ToolError> {
        let own = tool.server() == PAGE;
        // A page can run its own code anyway.
        if own && purpose != ToolContext::Page {
            return Ok(());
        }
        let of_site = self.servers.has(&visit.origin, tool.server());
        if of_site {
            self.permissions
                .check(&visit.origin, Scope::ServersRegister)?;
        }
        if of_site && purpose == ToolContext::Chat {
            return Ok(());
        }
        self.permissions.check(&visit.origin, Scope::ToolsCall)?;
        // The tool for truncated results only shows results of the same origin.
        if !of_site && !own && !read_result::is_read_result(tool) {
            self.permissions.check_tool(&visit.origin, tool)?;
        }
        Ok(())
    }

    /// Calls a tool; checks the permission first, then the limit, then whether it exists.
    pub(crate) async fn call_tool(
        &self,
        visit: &Visit,
        tool: &ToolName,
        arguments: Value,
        purpose: ToolContext,
    ) -> Result<Value, ToolError> {
        let mut changes = self.permissions.changes();
        let result = match self.may_call(visit, tool, purpose) {
            Err(refused) => Err(refused),
            Ok(()) => {
                let call = self.make_call(visit, tool, arguments);
                tokio::pin!(call);
                loop {
                    tokio::select! {
                        result = &mut call => break result,
                        // Revoking the permission aborts running calls.
                        _ = changes.changed() => {
                            if let Err(refused) = self.may_call(visit, tool, purpose) {
                                break Err(refused);
                            }
                        }
                    }
                }
            }
        };
        let outcome = result.as_ref().err().map_or("ok", ToolError::code);
        let used = PermissionUse {
            scope: Scope::ToolsCall,
            what: tool.to_string(),
            outcome,
            by: match purpose {
                // It is the user's own conversation.
                ToolContext::Chat => Actor::Person,
                ToolContext::Page | ToolContext::Run => visit.by,
            },
        };
        self.permissions.note(&visit.origin, used);
        result
    }

    async fn make_call(
        &self,
        visit: &Visit,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        let origin = &visit.origin;
        // A page's own tool may call others in turn, and would wait for itself.
        if tool.server() == PAGE {
            return PageChannel::call(&*visit.own_tools, tool, arguments).await;
        }
        let _turn = self.lanes.turn(origin).await?;
        if read_result::is_read_result(tool) {
            return self.read_on(origin, tool, arguments);
        }
        if self.servers.has(origin, tool.server()) {
            return self.servers.call(origin, tool, arguments).await;
        }
        if is_reader(tool) {
            return read_pages(self.other_pages(visit), tool, arguments).await;
        }
        let of_page = |one: &Arc<Tool>| one.name.server() == tool.server();
        if self.tools_of_pages(visit).iter().any(of_page)
            && let Some(page) = self.pages.of_server(tool.server())
        {
            let origin = origin.to_string();
            let by = Source::Page { origin };
            return self.pages.call_as(by, &page, tool, arguments).await;
        }
        self.host.call(origin.as_str(), tool, arguments, None).await
    }

    /// The rest of a result that was truncated for this origin.
    fn read_on(
        &self,
        origin: &Origin,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        let caller = origin.as_str();
        read_result::call(tool, arguments, |handle, offset| {
            let rest = self.host.rest(caller, handle, offset);
            rest.or_else(|| self.servers.rest(origin, handle, offset))
        })
    }

    /// Calls a tool for the page itself.
    pub async fn call_for_page(
        &self,
        visit: &Visit,
        tool: &str,
        arguments: Value,
    ) -> Result<Value, SiteError> {
        self.permissions.check(&visit.origin, Scope::ToolsCall)?;
        let mut known = self.tools_of(visit);
        // A page must not learn of tools that it may not call.
        known.retain(|one| self.may_call(visit, &one.name, ToolContext::Page).is_ok());
        // An invalid name is on no list.
        let tool = full_name(&known, tool)
            .map_err(|message| SiteError::new("ERR_TOOL_NOT_ALLOWED", message))?;
        let called = self.call_tool(visit, &tool, arguments, ToolContext::Page);
        Ok(called.await?)
    }
}

/// The tool that a page names: in full, or by its short name if that is unique.
pub(crate) fn full_name(tools: &[Arc<Tool>], name: &str) -> Result<ToolName, String> {
    let unreadable = match name.parse::<ToolName>() {
        Ok(full) => return Ok(full),
        Err(error) => error,
    };
    let mut same = tools.iter().map(|tool| &tool.name);
    let mut same = same.by_ref().filter(|one| one.tool() == name);
    match (same.next(), same.next()) {
        (Some(only), None) => Ok(only.clone()),
        (Some(one), Some(other)) => Err(format!(
            "several servers have a tool of this name; use its full name, such as {one} or {other}"
        )),
        (None, _) => Err(unreadable.to_string()),
    }
}
