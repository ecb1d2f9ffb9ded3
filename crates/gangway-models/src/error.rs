//! Errors of models, the same for every provider.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::http::{code_of, words_of};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// The provider cannot be reached.
    Unavailable,
    RateLimited,
    /// The caller's token budget is used up.
    OverBudget,
    Timeout,
    /// The provider rejected the API key.
    Unauthorized,
    /// No such model, or no model at all.
    NoModel,
    /// The prompt is longer than the context window.
    TooLong,
    /// The model does not support the request.
    BadRequest,
    /// Any other error of the provider.
    Failed,
}

impl Failure {
    /// The error code on the wire.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Unavailable => "ERR_SERVER_UNAVAILABLE",
            Self::RateLimited => "ERR_RATE_LIMITED",
            Self::OverBudget => "ERR_BUDGET_EXCEEDED",
            Self::Timeout => "ERR_TIMEOUT",
            Self::Unauthorized
            | Self::NoModel
            | Self::TooLong
            | Self::BadRequest
            | Self::Failed => "ERR_MODEL_FAILED",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct ModelError {
    pub failure: Failure,
    /// For people. Never contains a key.
    pub message: String,
    /// The provider's own message, without keys.
    pub details: Option<String>,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// The HTTP status of the provider.
    #[serde(default)]
    pub status: Option<u16>,
    /// The provider's own error code, such as `context_length_exceeded`.
    #[serde(default)]
    pub code: Option<String>,
    /// Whether the request may be retried at once: nothing of a response has arrived.
    pub again: bool,
}

/// Characters of a provider's error text that are shown.
const WORDS: usize = 500;

impl ModelError {
    pub fn new(failure: Failure, message: impl Into<String>) -> Self {
        Self {
            failure,
            message: message.into(),
            details: None,
            retry_after: None,
            status: None,
            code: None,
            again: false,
        }
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Failure::Failed, message)
    }

    /// An error of the caller: retrying does not help.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(Failure::BadRequest, message)
    }

    /// A stream in the wrong format.
    pub(crate) fn garbled(at: &str) -> Self {
        Self::failed(format!(
            "The model at {at} sent a response that is not a chat stream."
        ))
    }

    /// An error reported inside the stream.
    pub(crate) fn with_details(at: &str, message: &str) -> Self {
        let message = message.trim();
        Self {
            details: Some(message.to_owned()),
            ..Self::failed(format!("The model at {at} failed: {message}"))
        }
    }

    /// Truncates the provider's text.
    pub(crate) fn clipped(mut self) -> Self {
        // The message begins with the provider's address.
        clip(&mut self.message, WORDS + 150);
        for text in [&mut self.details, &mut self.code].into_iter().flatten() {
            clip(text, WORDS);
        }
        self
    }

    /// A stream that ended early.
    pub(crate) fn cut_off(at: &str) -> Self {
        Self::failed(format!(
            "The model at {at} stopped in the middle of its answer."
        ))
    }

    pub(crate) fn from_transport(at: &str, error: &reqwest::Error) -> Self {
        let (failure, message) = if error.is_timeout() {
            (
                Failure::Timeout,
                format!("The model at {at} did not answer in time."),
            )
        } else if error.is_connect() {
            (
                Failure::Unavailable,
                format!("The model at {at} cannot be reached. Is it running?"),
            )
        } else {
            (
                Failure::Failed,
                format!("The connection to the model at {at} broke."),
            )
        };
        Self {
            // The request was not sent.
            again: error.is_connect(),
            details: innermost(error),
            ..Self::new(failure, message)
        }
    }

    /// An error response, with the start of its body.
    pub(crate) fn from_status(
        at: &str,
        status: u16,
        retry_after: Option<Duration>,
        body: &str,
    ) -> Self {
        let text = words_of(body);
        let failure = match status {
            401 | 403 => Failure::Unauthorized,
            429 => Failure::RateLimited,
            408 | 504 => Failure::Timeout,
            502 | 503 | 529 => Failure::Unavailable,
            _ => Failure::Failed,
        };
        let text = text.trim().to_owned();
        let entry = if text.is_empty() {
            "without a message".to_owned()
        } else {
            format!("saying: {text}")
        };
        Self {
            failure,
            message: format!("The model at {at} answered {status}, {entry}"),
            details: (!text.is_empty()).then_some(text),
            retry_after,
            status: Some(status),
            code: code_of(body),
            again: matches!(status, 429 | 500 | 502 | 503 | 529),
        }
    }
}

/// The root cause, such as an unknown host or an untrusted certificate.
fn innermost(error: &reqwest::Error) -> Option<String> {
    let mut cause = std::error::Error::source(error)?;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let mut message = cause.to_string();
    clip(&mut message, WORDS);
    Some(message)
}

fn clip(text: &mut String, chars: usize) {
    if let Some((end, _)) = text.char_indices().nth(chars) {
        text.truncate(end);
    }
}
