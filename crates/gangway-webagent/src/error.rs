//! Errors that pages see.

use gangway_core::ToolError;
use serde::Serialize;
use ts_rs::TS;

use crate::permissions::{PermissionDenied, TooMany};

/// Why a page's call failed.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct SiteError {
    /// The error code.
    pub code: &'static str,
    /// What was wrong and what to do.
    pub message: String,
}

impl SiteError {
    /// An error with this code.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// Invalid parameters.
    pub fn wrong(message: impl Into<String>) -> Self {
        Self::new("ERR_INVALID_ARGUMENT", message)
    }

    /// A limit was reached.
    pub fn too_many(message: impl Into<String>) -> Self {
        Self::new("ERR_RATE_LIMITED", message)
    }

    /// The server is stopping; the call can be retried after its restart.
    pub fn stopping() -> Self {
        let message = "Gangway is stopping; try again when it is back";
        Self::new("ERR_SERVER_UNAVAILABLE", message)
    }

    /// Only a browser with the extension supports it.
    pub fn needs_extension(what: &str) -> Self {
        let message = format!("{what} needs the Gangway extension in this browser");
        Self::new("ERR_NOT_SUPPORTED", message)
    }

    /// It was aborted.
    pub fn aborted(message: impl Into<String>) -> Self {
        Self::new("ERR_ABORTED", message)
    }
}

impl From<PermissionDenied> for SiteError {
    fn from(refused: PermissionDenied) -> Self {
        Self::new(refused.code(), refused.to_string())
    }
}

impl From<PermissionDenied> for ToolError {
    fn from(refused: PermissionDenied) -> Self {
        Self::Refused {
            code: refused.code(),
            message: refused.to_string(),
        }
    }
}

impl From<TooMany> for SiteError {
    fn from(many: TooMany) -> Self {
        Self::new(many.code(), many.to_string())
    }
}

impl From<ToolError> for SiteError {
    fn from(error: ToolError) -> Self {
        Self::new(error.code(), words_for_pages(&error))
    }
}

/// Maps a tool error for pages, which must not learn how its server is started.
pub(crate) fn words_for_pages(error: &ToolError) -> String {
    match error {
        ToolError::Unavailable(_) => tool_message(error.code(), "").to_owned(),
        other => other.to_string(),
    }
}

/// The same for a logged error.
pub(crate) fn tool_message<'a>(code: &str, message: &'a str) -> &'a str {
    match code {
        "ERR_SERVER_UNAVAILABLE" => "the MCP server of this tool is not available now",
        _ => message,
    }
}

/// Maps the code of a failed turn to a code for pages.
pub(crate) fn page_code(code: &str) -> &'static str {
    match code {
        "server_unavailable" => "ERR_SERVER_UNAVAILABLE",
        "rate_limited" => "ERR_RATE_LIMITED",
        "budget_exceeded" => "ERR_BUDGET_EXCEEDED",
        "timeout" => "ERR_TIMEOUT",
        "model_failed" | "model_unauthorized" | "no_model" => "ERR_MODEL_FAILED",
        "permission_denied" => "ERR_PERMISSION_DENIED",
        "page_closed" => "ERR_ABORTED",
        _ => "ERR_INTERNAL",
    }
}

/// Maps a model error for pages, which must not learn URLs and keys.
pub(crate) fn model_message<'a>(code: &str, message: &'a str) -> &'a str {
    match code {
        // The message is ours, and about the page itself.
        "ERR_BUDGET_EXCEEDED" | "ERR_PERMISSION_DENIED" | "ERR_ABORTED" => message,
        "ERR_SERVER_UNAVAILABLE" => "the model cannot be reached now",
        "ERR_RATE_LIMITED" => "rate limit reached; wait a moment and try again",
        "ERR_TIMEOUT" => "the model did not answer in time",
        "ERR_INTERNAL" => "internal error; see Gangway's log",
        _ => "the model failed; see Gangway's Models page",
    }
}

impl From<gangway_core::Error> for SiteError {
    fn from(error: gangway_core::Error) -> Self {
        tracing::warn!(%error, "cannot store a page's data");
        Self::new("ERR_INTERNAL", "internal error; see Gangway's log")
    }
}
