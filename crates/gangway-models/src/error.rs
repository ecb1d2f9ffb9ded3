//! How a model can fail, the same for every provider.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::http::{code_of, words_of};

/// The kinds of failure that callers tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// The provider cannot be reached.
    Unavailable,
    /// The provider refused for now.
    RateLimited,
    /// The caller has used up its budget for models.
    OverBudget,
    /// The provider said nothing for too long.
    Timeout,
    /// The provider refused the key.
    Unauthorized,
    /// There is no such model, or none at all.
    NoModel,
    /// What was asked is longer than the model can read.
    TooLong,
    /// What was asked cannot be done as it was asked, by this model.
    BadRequest,
    /// Anything else the provider did.
    Failed,
}

impl Failure {
    /// The name by which pages know it.
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

/// Why there is no answer, with the provider's own words where it had any.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct ModelError {
    /// The kind of failure.
    pub failure: Failure,
    /// What happened, for people. It never holds a key.
    pub message: String,
    /// The provider's own words, where it had any. They never hold a key either.
    pub details: Option<String>,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// The status that the provider answered with.
    #[serde(default)]
    pub status: Option<u16>,
    /// The provider's own code for it, such as `context_length_exceeded`.
    #[serde(default)]
    pub code: Option<String>,
    /// Whether the same request may be made again at once: nothing of an answer has come, and it may well work.
    pub again: bool,
}

/// The most of a provider's error text that is shown.
const WORDS: usize = 500;

impl ModelError {
    /// A failure of this kind.
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

    /// A failure that fits no other kind.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Failure::Failed, message)
    }

    /// A failure that is the asker's: asked again in the same way, it is the same.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(Failure::BadRequest, message)
    }

    /// A stream that is not what this wire sends.
    pub(crate) fn garbled(at: &str) -> Self {
        Self::failed(format!(
            "The model at {at} sent something that is not a chat stream."
        ))
    }

    /// A stream in which the provider says that it failed.
    pub(crate) fn said(at: &str, words: &str) -> Self {
        let words = words.trim();
        Self {
            details: Some(words.to_owned()),
            ..Self::failed(format!("The model at {at} failed, saying: {words}"))
        }
    }

    /// The same, with no more of the provider's words than are shown.
    pub(crate) fn clipped(mut self) -> Self {
        // Where the provider is stands before its words.
        clip(&mut self.message, WORDS + 150);
        for words in [&mut self.details, &mut self.code].into_iter().flatten() {
            clip(words, WORDS);
        }
        self
    }

    /// A stream that ended before the model did.
    pub(crate) fn cut_off(at: &str) -> Self {
        Self::failed(format!(
            "The model at {at} stopped in the middle of its answer."
        ))
    }

    /// An error on the way to the provider.
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
            // Nothing has reached the provider.
            again: error.is_connect(),
            details: innermost(error),
            ..Self::new(failure, message)
        }
    }

    /// An answer that is not a success, with the start of its text.
    pub(crate) fn from_status(
        at: &str,
        status: u16,
        retry_after: Option<Duration>,
        body: &str,
    ) -> Self {
        let words = words_of(body);
        let failure = match status {
            401 | 403 => Failure::Unauthorized,
            429 => Failure::RateLimited,
            408 | 504 => Failure::Timeout,
            502 | 503 | 529 => Failure::Unavailable,
            _ => Failure::Failed,
        };
        let words = words.trim().to_owned();
        let said = if words.is_empty() {
            "without a word".to_owned()
        } else {
            format!("saying: {words}")
        };
        Self {
            failure,
            message: format!("The model at {at} answered {status}, {said}"),
            details: (!words.is_empty()).then_some(words),
            retry_after,
            status: Some(status),
            code: code_of(body),
            again: matches!(status, 429 | 500 | 502 | 503 | 529),
        }
    }
}

/// The first cause of an error: a name that is not known, a certificate that is not trusted.
fn innermost(error: &reqwest::Error) -> Option<String> {
    let mut cause = std::error::Error::source(error)?;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let mut words = cause.to_string();
    clip(&mut words, WORDS);
    Some(words)
}

fn clip(text: &mut String, chars: usize) {
    if let Some((end, _)) = text.char_indices().nth(chars) {
        text.truncate(end);
    }
}
