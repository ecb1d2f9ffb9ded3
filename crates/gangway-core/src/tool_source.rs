//! Tools that a part of Gangway offers beside those of MCP servers.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::watch;

use crate::{Caller, SessionId, Tool, ToolError, ToolName};

/// A part of Gangway that offers tools to agents: applets, apps, pages, the browser. An MCP server of the same name as
/// one of its servers wins: the person added it.
pub trait ToolSource: Send + Sync {
    /// The tools to offer to the agent of a session: those that a sentence or what runs in the session makes likely, since
    /// small models pay for every tool that they read about.
    fn tools<'a>(&'a self, session: SessionId, sentence: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>>;

    /// All tools that can be called now, for callers that are bound to no session, such as MCP clients.
    fn all(&self) -> BoxFuture<'_, Vec<Arc<Tool>>>;

    /// The servers of the tools that can be called now, without asking for the tools.
    fn servers(&self) -> Vec<String>;

    /// Whether a tool of this name belongs to this source, even if it cannot be called now.
    fn has(&self, tool: &ToolName) -> bool;

    /// Calls a tool. A caller with a session reaches only what belongs to that session.
    fn call<'a>(
        &'a self,
        caller: &'a Caller,
        tool: &'a ToolName,
        arguments: Value,
    ) -> BoxFuture<'a, Result<Value, ToolError>>;

    /// Counts up whenever `all` may have changed; none if it never does.
    fn changes(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// Whether a call may change which tools there are, as on a page that has other tools on another stage.
    fn calls_change_tools(&self) -> bool {
        false
    }

    /// The tool, if the person has to approve calls of it; none where the source asks for consent itself or needs none.
    fn to_approve(&self, _tool: &ToolName) -> Option<Arc<Tool>> {
        None
    }

    /// Whether a tool only reads; none where this is not known.
    fn is_read_only(&self, _tool: &ToolName) -> Option<bool> {
        None
    }
}
