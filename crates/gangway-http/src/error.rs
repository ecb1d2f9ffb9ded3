//! The error envelope of all REST responses, and how core's errors map to it.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use gangway_core::Error;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

/// The error envelope.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
pub struct ApiError {
    pub status: u16,
    /// A machine-readable code.
    pub error_code: String,
    /// What was wrong, and what to do.
    pub message: String,
    /// The same as `message`, for clients of the applet protocol.
    #[serde(default)]
    #[schema(value_type = String)]
    #[ts(type = "string")]
    pub error: Box<str>,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// How long to wait before retrying.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub retry_after_seconds: Option<u32>,
    /// The model provider's own error message.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub details: Option<String>,
}

pub type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    /// An error that retrying does not change.
    pub fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            status: status.as_u16(),
            error_code: code.to_owned(),
            error: message.as_str().into(),
            message,
            retryable: false,
            retry_after_seconds: None,
            details: None,
        }
    }

    /// Makes the error retryable after some seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.retryable = true;
        self.retry_after_seconds = Some(seconds);
        self
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    #[must_use]
    pub fn no_session(id: &str) -> Self {
        let id: String = id.chars().take(80).collect();
        Self::new(
            StatusCode::NOT_FOUND,
            "session_not_found",
            format!("session {id:?} not found"),
        )
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let (status, code) = match &error {
            Error::SessionNotFound(_) => (StatusCode::NOT_FOUND, "session_not_found"),
            Error::LaunchNotFound(_) => (StatusCode::NOT_FOUND, "launch_not_found"),
            Error::TooManyLaunches { .. } => (StatusCode::CONFLICT, "too_many_launches"),
            Error::TooDeep { .. } => (StatusCode::BAD_REQUEST, "too_deep"),
            Error::SessionBusy => (StatusCode::CONFLICT, "session_busy"),
            Error::QueueFull { .. } | Error::QueueTooLong { .. } => {
                (StatusCode::TOO_MANY_REQUESTS, "queue_full")
            }
            Error::QuestionNotFound(_) => (StatusCode::NOT_FOUND, "question_not_found"),
            Error::AgentFixed => (StatusCode::CONFLICT, "agent_fixed"),
            Error::AgentNotFound { .. } => (StatusCode::BAD_REQUEST, "agent_not_found"),
            Error::StateTooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "state_too_large"),
            Error::TooManyApplets { .. } => (StatusCode::CONFLICT, "too_many_applets"),
            Error::Conflict { .. } => (StatusCode::CONFLICT, "conflict"),
            Error::AnswerTooLong { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "answer_too_long"),
            Error::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
            Error::StorageFull => (StatusCode::INSUFFICIENT_STORAGE, "storage_full"),
            // The store has logged it already.
            Error::Corrupted(_) => (StatusCode::INTERNAL_SERVER_ERROR, "data_corrupted"),
            Error::StorageReadOnly(_) | Error::Storage(_) | Error::NewerData { .. } => {
                // Details go to the log, not over the wire.
                tracing::error!(%error, "the store failed");
                let message = "the server's store failed; see its log";
                return Self::new(StatusCode::INTERNAL_SERVER_ERROR, "storage_failed", message);
            }
        };
        let answer = Self::new(status, code, error.to_string());
        match error {
            Error::SessionBusy
            | Error::QueueFull { .. }
            | Error::QueueTooLong { .. }
            | Error::Stopping => answer.retry_after(1),
            _ => answer,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry_after = self.retry_after_seconds;
        let mut response = (status, axum::Json(&self)).into_response();
        // Protocols with another error format convert it.
        response.extensions_mut().insert(self);
        if let Some(seconds) = retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
