//! Elicitation: questions that a server asks the user during a call.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::spec::ServerId;

#[derive(Debug, Clone, PartialEq)]
pub struct ElicitationRequest {
    pub server: ServerId,
    pub message: String,
    /// The form, as a JSON Schema of flat properties; `None` for a URL.
    pub schema: Option<Value>,
    /// The caller whose call it is about, unless several have calls open.
    pub caller: Option<Arc<str>>,
    /// A page to visit, which the server says is its own. The user opens it, never Gangway.
    pub url: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationAnswer {
    /// With the values of the form.
    Accept(Value),
    Decline,
    /// Closed, or not answered.
    Cancel,
}

/// Asks the user. The future is dropped when the answer is no longer needed.
pub trait Asker: Send + Sync {
    fn ask(&self, question: ElicitationRequest) -> BoxFuture<'_, ElicitationAnswer>;
}
