//! Tools of parts of Gangway, in addition to those of MCP servers.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::watch;

use crate::{Caller, SessionId, Tool, ToolError, ToolName};

/// A tool whose calls may need the user's approval.
#[derive(Debug, Clone)]
pub struct ToApprove {
    /// The tool.
    pub tool: Arc<Tool>,
    /// Whether the user is asked only by the policy for all calls.
    pub is_read_only: bool,
    /// What carries out the calls: if it changes, the user is asked again.
    pub target: String,
    /// Whether a page carries them out, all of whose tools can be allowed together.
    pub of_page: bool,
}

/// A part of Gangway that offers tools to agents: applets, apps, pages, the browser. An MCP server with the name of one
/// of its servers takes precedence: the user added it.
pub trait ToolSource: Send + Sync {
    /// The tools to offer to a session's agent: those that a sentence or the running apps make likely, since small
    /// models pay for every tool that they read about.
    fn tools<'a>(&'a self, session: SessionId, sentence: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>>;

    /// All tools that can be called now, for callers without a session, such as MCP clients.
    fn all(&self) -> BoxFuture<'_, Vec<Arc<Tool>>>;

    /// The servers of the tools that can be called now, without querying the tools.
    fn servers(&self) -> Vec<String>;

    /// Whether a tool of this name belongs to this source, even if it cannot be called now.
    fn has(&self, tool: &ToolName) -> bool;

    /// Calls a tool. A caller with a session can only access what belongs to that session.
    fn call<'a>(
        &'a self,
        caller: &'a Caller,
        tool: &'a ToolName,
        arguments: Value,
    ) -> BoxFuture<'a, Result<Value, ToolError>>;

    /// Counts up whenever `all` may have changed; `None` if it never does.
    fn changes(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// Whether a call may change the list of tools, as on a page with other tools in another state.
    fn calls_change_tools(&self) -> bool {
        false
    }

    /// The tool, if calls may need the user's approval; `None` if the source asks for consent itself or needs none. An
    /// error if it cannot be called.
    fn to_approve(&self, _tool: &ToolName) -> Result<Option<ToApprove>, ToolError> {
        Ok(None)
    }

    /// Whether a tool only reads; `None` if unknown.
    fn is_read_only(&self, _tool: &ToolName) -> Option<bool> {
        None
    }
}
