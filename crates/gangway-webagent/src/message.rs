//! Messages to pages.

use serde::Serialize;
use serde_json::Value;
use ts_rs::TS;

use crate::{error::SiteError, visit::Visit};

/// One message to a page, by way of its broker.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum SiteTold {
    /// A call has its result.
    Result {
        /// The call.
        id: u64,
        /// What came of it.
        #[ts(type = "JsonValue")]
        result: Value,
    },
    /// A call failed.
    Error {
        /// The call.
        id: u64,
        /// Why.
        error: SiteError,
    },
    /// Something happened in a call that goes on.
    Event {
        /// The call.
        id: u64,
        /// What happened.
        #[ts(type = "JsonValue")]
        event: Value,
    },
    /// A call waits for the person, who decides at this address.
    Ask {
        /// The call.
        id: u64,
        /// Names the question.
        ask: String,
        /// Where the person decides.
        url: String,
    },
    /// A tool of the page is to be run.
    ToolCall {
        /// Names it in the answer.
        call: u64,
        /// The tool.
        name: String,
        /// What it is called with.
        #[ts(type = "JsonValue")]
        args: Value,
    },
    /// Nobody waits for that any more.
    ToolCancel {
        /// Which call.
        call: u64,
    },
    /// The chat that the page opened was closed.
    Chat {
        /// Which.
        chat_id: String,
        /// `closed`.
        state: &'static str,
    },
    /// What lets the broker in next time; never for the page.
    Token {
        /// A secret.
        token: String,
    },
}

/// A message with its number.
#[derive(Debug, Clone, Serialize, TS)]
pub struct Numbered {
    /// Counts up from 1.
    pub n: u64,
    /// The message.
    #[serde(flatten)]
    pub told: SiteTold,
}

impl Visit {
    /// Says something to the page.
    pub fn tell(&self, told: SiteTold) {
        if !self.outbox.tell(told) {
            self.over.cancel();
        }
    }
}
