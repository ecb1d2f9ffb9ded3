//! Messages to pages.

use serde::Serialize;
use serde_json::Value;
use ts_rs::TS;

use crate::{error::SiteError, visit::Visit};

/// A message to a page, via its broker.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum SiteServerMessage {
    /// The result of a call.
    Result {
        /// The call.
        id: u64,
        /// The result.
        #[ts(type = "JsonValue")]
        result: Value,
    },
    /// A call failed.
    Error {
        /// The call.
        id: u64,
        /// The error.
        error: SiteError,
    },
    /// An event of a running call.
    Event {
        /// The call.
        id: u64,
        /// The event.
        #[ts(type = "JsonValue")]
        event: Value,
    },
    /// A call waits for the user, who decides at this URL.
    Ask {
        /// The call.
        id: u64,
        /// Id of the request.
        ask: String,
        /// The URL of the request.
        url: String,
    },
    /// A call of a tool of the page.
    ToolCall {
        /// Id of the call.
        call: u64,
        /// The tool.
        name: String,
        /// The arguments.
        #[ts(type = "JsonValue")]
        args: Value,
    },
    /// A call of the page's tool was cancelled.
    ToolCancel {
        /// The call.
        call: u64,
    },
    /// The chat that the page opened was closed.
    Chat {
        /// The chat.
        chat_id: String,
        /// `closed`.
        state: &'static str,
    },
    /// A token for the broker's next connection; never passed to the page.
    Token {
        /// The token.
        token: String,
    },
}

/// A numbered message.
#[derive(Debug, Clone, Serialize, TS)]
pub struct Numbered {
    /// Starts at 1.
    pub n: u64,
    /// The message.
    #[serde(flatten)]
    pub message: SiteServerMessage,
}

impl Visit {
    /// Sends a message to the page.
    pub fn send(&self, message: SiteServerMessage) {
        if !self.outbox.send(message) {
            self.over.cancel();
        }
    }
}
