//! Tools: what an agent can call, wherever it comes from.

use std::{fmt, str::FromStr, sync::Arc};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    approval::{Approval, Choice},
    id::SessionId,
};

/// The server that Gangway's own tools belong to. No other has this name.
pub const OWN: &str = "gangway";

/// The longest name of a server or of a tool.
const MAX_PART: usize = 128;

/// A tool's name for people and pages: `server/tool`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName {
    server: String,
    tool: String,
}

/// A text that names no tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} names no tool; a tool is written server/tool")]
pub struct NoToolName(String);

impl ToolName {
    /// A tool of a server. What a server calls its tools is its own affair, so the tool's part may hold anything but
    /// control characters; the server's part is ours and holds no slash.
    pub fn new(server: &str, tool: &str) -> Result<Self, NoToolName> {
        let wrong = |part: &str| {
            part.is_empty() || part.chars().count() > MAX_PART || part.contains(char::is_control)
        };
        if wrong(server) || wrong(tool) || server.contains('/') {
            let text = format!("{server}/{tool}");
            return Err(NoToolName(text.chars().take(2 * MAX_PART).collect()));
        }
        Ok(Self {
            server: server.to_owned(),
            tool: tool.to_owned(),
        })
    }

    /// The server.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The tool, as its server calls it.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

impl FromStr for ToolName {
    type Err = NoToolName;

    fn from_str(text: &str) -> Result<Self, NoToolName> {
        // A server's name holds no slash, a tool's may.
        let (server, tool) = text.split_once('/').unwrap_or((text, ""));
        Self::new(server, tool)
    }
}

impl TryFrom<String> for ToolName {
    type Error = NoToolName;

    fn try_from(text: String) -> Result<Self, NoToolName> {
        text.parse()
    }
}

impl From<ToolName> for String {
    fn from(name: ToolName) -> Self {
        name.to_string()
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.server, self.tool)
    }
}

/// A tool that can be called.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: ToolName,
    /// What it is good for.
    pub description: String,
    /// A JSON Schema of type object.
    pub input_schema: Value,
}

/// Why a call has no result. The first kinds never reached the tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// There is no such tool.
    #[error("there is no tool {0}")]
    NotFound(ToolName),
    /// What it was called with does not fit its schema.
    #[error("the arguments of {tool} do not fit: {reason}")]
    BadArguments {
        /// The tool.
        tool: ToolName,
        /// Where and why.
        reason: String,
    },
    /// Too many calls at once.
    #[error("{0}")]
    Busy(String),
    /// Its server is not there, or went away in the middle.
    #[error("{0}")]
    Unavailable(String),
    /// It took too long.
    #[error("{tool} did not answer within {seconds} seconds")]
    Timeout {
        /// The tool.
        tool: ToolName,
        /// How long it was waited for.
        seconds: u64,
    },
    /// Whoever calls may not.
    #[error("{message}")]
    Refused {
        /// The name by which pages know the reason.
        code: &'static str,
        /// Why, and what to do.
        message: String,
    },
    /// It answered that it failed, or what it answered makes no sense.
    #[error("{0}")]
    Failed(String),
}

impl ToolError {
    /// The name by which pages know it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "ERR_TOOL_NOT_FOUND",
            Self::BadArguments { .. } | Self::Failed(_) => "ERR_TOOL_FAILED",
            Self::Busy(_) => "ERR_RATE_LIMITED",
            Self::Unavailable(_) => "ERR_SERVER_UNAVAILABLE",
            Self::Timeout { .. } => "ERR_TOOL_TIMEOUT",
            Self::Refused { code, .. } => code,
        }
    }
}

/// Whoever has tools. Dropping a call ends it, on the other side too where that can be told.
pub trait Toolbox: Send + Sync {
    /// The tools that can be called now, for one session. Of Gangway's own, those that a sentence or what runs in the
    /// session makes likely: small models pay for every tool that they read about.
    fn tools<'a>(&'a self, session: SessionId, sentence: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>>;

    /// The tool that reads on in a result that was cut, if there is one. Such a result is an object with `truncated`
    /// and a `handle`.
    fn reader(&self) -> Option<Arc<Tool>> {
        None
    }

    /// What the servers of these calls offer now, where calls may change that: a page has other tools on another stage.
    /// Nothing for servers whose tools stay as they are.
    fn offered_after<'a>(
        &'a self,
        _session: SessionId,
        _called: &'a [ToolName],
    ) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    /// Whether a call has to be approved by the person first.
    fn approval<'a>(
        &'a self,
        _session: SessionId,
        _tool: &'a ToolName,
        _arguments: &'a Value,
    ) -> BoxFuture<'a, Result<Approval, ToolError>> {
        Box::pin(std::future::ready(Ok(Approval::NotNeeded)))
    }

    /// Remembers what the person chose when `approval` asked.
    fn chosen<'a>(
        &'a self,
        _session: SessionId,
        _tool: &'a ToolName,
        _choice: Choice,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Calls one.
    fn call(
        &self,
        session: SessionId,
        tool: ToolName,
        arguments: Value,
    ) -> BoxFuture<'_, Result<Value, ToolError>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tools_name_is_read_back_as_it_was_written_whatever_its_server_calls_it() {
        for text in ["files/read", "a/b/c", "time/wie spät?", "x/y\u{301}"] {
            let name: ToolName = text.parse().unwrap();
            assert_eq!(name.to_string(), text);
        }
        let nested: ToolName = "a/b/c".parse().unwrap();
        assert_eq!((nested.server(), nested.tool()), ("a", "b/c"));
        for text in ["", "/", "a", "a/", "/b", "a\n/b", "a/b\u{7}"] {
            assert!(text.parse::<ToolName>().is_err(), "{text:?}");
        }
    }
}
