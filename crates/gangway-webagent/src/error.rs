//! What a page is told when something cannot be done.

use gangway_core::ToolError;
use serde::Serialize;
use ts_rs::TS;

use crate::permissions::{Refused, TooMany};

/// Why a page does not get what it asked for.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct SiteError {
    /// The name by which pages know the reason.
    pub code: &'static str,
    /// What was wrong and what to do.
    pub message: String,
}

impl SiteError {
    /// An error of this name.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// What was asked makes no sense.
    pub fn wrong(message: impl Into<String>) -> Self {
        Self::new("ERR_INVALID_ARGUMENT", message)
    }

    /// Too much at once.
    pub fn too_many(message: impl Into<String>) -> Self {
        Self::new("ERR_RATE_LIMITED", message)
    }

    /// The server stops; the same call can be made again once it is back.
    pub fn stopping() -> Self {
        let words = "Gangway is stopping; try again when it is back";
        Self::new("ERR_SERVER_UNAVAILABLE", words)
    }

    /// Only a browser with the extension can do it.
    pub fn needs_extension(what: &str) -> Self {
        let words = format!("{what} needs the Gangway extension in this browser");
        Self::new("ERR_NOT_SUPPORTED", words)
    }

    /// Someone ended it.
    pub fn aborted(message: impl Into<String>) -> Self {
        Self::new("ERR_ABORTED", message)
    }
}

impl From<Refused> for SiteError {
    fn from(refused: Refused) -> Self {
        Self::new(refused.code(), refused.to_string())
    }
}

impl From<Refused> for ToolError {
    fn from(refused: Refused) -> Self {
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

/// What a page is told of a tool that failed: how its server is started is none of its business.
pub(crate) fn words_for_pages(error: &ToolError) -> String {
    match error {
        ToolError::Unavailable(_) => tool_words(error.code(), "").to_owned(),
        other => other.to_string(),
    }
}

/// The same for a failure in the log.
pub(crate) fn tool_words<'a>(code: &str, message: &'a str) -> &'a str {
    match code {
        "ERR_SERVER_UNAVAILABLE" => "the MCP server of this tool is not available now",
        _ => message,
    }
}

/// The code that pages know for the code of a failed turn.
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

/// What a page is told of a model that failed: addresses and keys are none of its business.
pub(crate) fn model_words<'a>(code: &str, message: &'a str) -> &'a str {
    match code {
        // It is about the page itself, in words of ours.
        "ERR_BUDGET_EXCEEDED" | "ERR_PERMISSION_DENIED" | "ERR_ABORTED" => message,
        "ERR_SERVER_UNAVAILABLE" => "the model cannot be reached now",
        "ERR_RATE_LIMITED" => "rate limit reached; wait a moment and try again",
        "ERR_TIMEOUT" => "the model did not answer in time",
        "ERR_INTERNAL" => "Gangway could not do this; its log says more",
        _ => "the model could not answer; the Models page of Gangway may say why",
    }
}

impl From<gangway_core::Error> for SiteError {
    fn from(error: gangway_core::Error) -> Self {
        tracing::warn!(%error, "something a page asked for could not be kept");
        Self::new(
            "ERR_INTERNAL",
            "Gangway could not do this; its log says more",
        )
    }
}
