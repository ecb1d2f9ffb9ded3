//! The one error envelope of every REST answer, and how core's facts map to it.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use gangway_core::Error;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

/// What is wrong with a request, or why it could not be served.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
pub struct ApiError {
    /// The HTTP status.
    pub status: u16,
    /// A short machine-readable reason.
    pub error_code: String,
    /// What was wrong, where, and what to do.
    pub message: String,
    /// The same as `message`, under the name that clients of the applet protocol read.
    #[serde(default)]
    #[schema(value_type = String)]
    #[ts(type = "string")]
    pub error: Box<str>,
    /// Whether the same request may work later.
    pub retryable: bool,
    /// How long to wait before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub retry_after_seconds: Option<u32>,
    /// A model provider's own words, where one failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub details: Option<String>,
}

/// What a handler answers with.
pub type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    /// An error that will be the same the next time.
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

    /// The same error, worth another try after some seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.retryable = true;
        self.retry_after_seconds = Some(seconds);
        self
    }

    /// A request that does not fit.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    /// A session that is not there.
    #[must_use]
    pub fn no_session(id: &str) -> Self {
        let id: String = id.chars().take(80).collect();
        Self::new(
            StatusCode::NOT_FOUND,
            "session_not_found",
            format!("there is no session {id:?}"),
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
            // The store has logged it, once for each place.
            Error::Corrupted(_) => (StatusCode::INTERNAL_SERVER_ERROR, "data_corrupted"),
            Error::StorageReadOnly(_) | Error::Storage(_) | Error::NewerData { .. } => {
                // What exactly broke is for the log of the process, not for whoever is on the other end.
                tracing::error!(%error, "the store failed");
                let message = "the server's store failed; its log says more";
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
        // A door with a form of its own puts it into that.
        response.extensions_mut().insert(self);
        if let Some(seconds) = retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
