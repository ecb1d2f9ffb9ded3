//! Questions that a server asks of a person in the middle of a call.

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::spec::ServerId;

/// What a server wants to know.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Who asks.
    pub server: ServerId,
    /// In its words.
    pub message: String,
    /// The form to fill in, as a JSON Schema of flat properties; nothing when there is a page to visit instead.
    pub schema: Option<Value>,
    /// A page to visit, which the server says is its own. It is the person who opens it, never Gangway.
    pub url: Option<String>,
}

/// What a person said to it.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Yes, and this is what was filled in.
    Accept(Value),
    /// No.
    Decline,
    /// Neither: the question was closed or nobody was there.
    Cancel,
}

/// Whoever can ask a person. It is dropped when the answer is no longer waited for.
pub trait Asker: Send + Sync {
    /// Asks.
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer>;
}
