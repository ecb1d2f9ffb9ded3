//! Tools that an agent can call.

use std::{fmt, str::FromStr, sync::Arc};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    approval::{Approval, Choice},
    id::SessionId,
};

/// The server name of Gangway's own tools, reserved.
pub const OWN: &str = "gangway";

/// Maximum length of the name of a server or tool.
const MAX_PART: usize = 128;

/// The qualified name of a tool: `server/tool`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName {
    server: String,
    tool: String,
}

/// Not a tool name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a tool name; use the form server/tool")]
pub struct NoToolName(String);

impl ToolName {
    /// The name of a server's tool. Servers choose the names of their tools, which may contain anything but control
    /// characters; the server part is ours and has no slash.
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

    /// The server part.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The tool part.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

impl FromStr for ToolName {
    type Err = NoToolName;

    fn from_str(text: &str) -> Result<Self, NoToolName> {
        // A server's name has no slash, a tool's may.
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

/// A callable tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: ToolName,
    /// Its description.
    pub description: String,
    /// Its input schema, of type object.
    pub input_schema: Value,
}

impl Tool {
    /// A tool that takes these properties, and no others.
    #[must_use]
    pub fn new(
        name: ToolName,
        description: &str,
        properties: Value,
        required: &[&str],
    ) -> Arc<Self> {
        Arc::new(Self {
            name,
            description: description.to_owned(),
            input_schema: json!({
                "type": "object", "properties": properties, "required": required, "additionalProperties": false,
            }),
        })
    }
}

/// Why a call has no result. In the first cases it never reached the tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// No such tool.
    #[error("tool {0} not found")]
    NotFound(ToolName),
    /// The arguments do not match the schema.
    #[error("invalid arguments of {tool}: {reason}")]
    BadArguments {
        /// The tool.
        tool: ToolName,
        /// Where and why.
        reason: String,
    },
    /// Too many concurrent calls.
    #[error("{0}")]
    Busy(String),
    /// Its server is unavailable or disconnected during the call.
    #[error("{0}")]
    Unavailable(String),
    /// Timeout.
    #[error("{tool} did not answer within {seconds} seconds")]
    Timeout {
        /// The tool.
        tool: ToolName,
        /// The timeout.
        seconds: u64,
    },
    /// The caller lacks permission.
    #[error("{message}")]
    Refused {
        /// The error code, as pages know it.
        code: &'static str,
        /// Why, and what to do.
        message: String,
    },
    /// The tool reported an error, or an invalid result.
    #[error("{0}")]
    Failed(String),
}

impl ToolError {
    /// The error code, as pages know it.
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

/// A provider of tools. Dropping a call cancels it, also on the server if possible.
pub trait Toolbox: Send + Sync {
    /// The tools that one session can call now. Of Gangway's own, those that a sentence or the running apps make
    /// likely: small models pay for every tool that they read about.
    fn tools<'a>(&'a self, session: SessionId, sentence: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>>;

    /// The tool that reads the rest of a truncated result, if any. Such a result is an object with `truncated` and a
    /// `handle`.
    fn reader(&self) -> Option<Arc<Tool>> {
        None
    }

    /// What the servers of these calls offer now, if calls may change that: a page may have other tools in another
    /// state. Empty for servers with fixed tools.
    fn offered_after<'a>(
        &'a self,
        _session: SessionId,
        _called: &'a [ToolName],
    ) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    /// Whether the user must approve a call first.
    fn approval<'a>(
        &'a self,
        _session: SessionId,
        _tool: &'a ToolName,
        _arguments: &'a Value,
    ) -> BoxFuture<'a, Result<Approval, ToolError>> {
        Box::pin(std::future::ready(Ok(Approval::NotNeeded)))
    }

    /// Stores the user's answer to a request for approval.
    fn chosen<'a>(
        &'a self,
        _session: SessionId,
        _tool: &'a ToolName,
        _choice: Choice,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Calls a tool.
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
