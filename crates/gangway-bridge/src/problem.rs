//! Errors for the extension.

use serde::Serialize;
use ts_rs::TS;

use gangway_http::error::ApiError;

#[derive(Debug, Clone, Serialize, TS)]
#[ts(rename = "BridgeProblem", optional_fields)]
pub struct Problem {
    /// A machine-readable code.
    pub code: String,
    /// What was wrong, and what to do.
    pub message: String,
    /// The HTTP status, if the server returned an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// A model provider's own error message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// Whether the request may be retried, if the server said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// Seconds to wait before a retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u32>,
}

impl Problem {
    fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
            status: None,
            details: None,
            retryable: None,
            retry_after: None,
        }
    }

    pub(crate) fn bad_message(message: &str) -> Self {
        Self::new("bad_message", message)
    }

    pub(crate) fn bad_field(message: &str) -> Self {
        Self::new("bad_field", message)
    }

    pub(crate) fn unknown_type(kind: &str) -> Self {
        let kind: String = kind.chars().take(80).collect();
        let message = format!("unknown message type {kind:?}; update Gangway or its extension");
        Self::new("unknown_type", message)
    }

    pub(crate) fn duplicate() -> Self {
        let message =
            "a request with this `request_id` is still open; use a new id for each request";
        Self::new("duplicate_request", message)
    }

    pub(crate) fn too_many(message: impl Into<String>) -> Self {
        Self::new("too_many_requests", message)
    }

    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self::new("too_large", message)
    }

    pub(crate) fn cancelled() -> Self {
        Self::new("cancelled", "this was cancelled")
    }

    /// With the reason, if known.
    pub(crate) fn server_gone(why: Option<&str>) -> Self {
        let message = match why {
            Some(why) => format!("Gangway is not available: {why}"),
            None => "Gangway is not available; reconnecting".to_owned(),
        };
        Self::new("server_gone", message)
    }

    pub(crate) fn wrong_protocol(message: &str) -> Self {
        Self::new("wrong_protocol", message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new("internal", message)
    }
}

impl From<ApiError> for Problem {
    fn from(error: ApiError) -> Self {
        Self {
            code: error.error_code,
            message: error.message,
            status: Some(error.status),
            details: error.details,
            retryable: Some(error.retryable),
            retry_after: error.retry_after_seconds,
        }
    }
}
