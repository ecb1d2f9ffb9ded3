//! The bridge's own messages to the extension, from which TypeScript is generated.

use serde::Serialize;
use serde_json::value::RawValue;
use ts_rs::TS;

use crate::{problem::Problem, server::ServerOrigin};

/// The answer to `hello`.
#[derive(Serialize, TS)]
pub struct BridgeHello {
    /// Protocol version.
    pub protocol: u64,
    pub gangway: &'static str,
    pub pid: u32,
    pub attached: ServerOrigin,
    pub base_url: String,
    /// Supported message types.
    pub capabilities: Vec<&'static str>,
    pub limits: BridgeLimits,
}

#[derive(Serialize, TS)]
pub struct BridgeLimits {
    /// Bytes of a message from the extension.
    pub frame_bytes: usize,
    /// Bytes of a frame to the extension; longer messages are sent in parts.
    pub reply_bytes: usize,
    /// Open requests.
    pub requests: usize,
    /// Open pages.
    pub pages: usize,
}

#[derive(Clone, Copy, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ServerPresence {
    Up,
    Gone,
}

/// A notification: a message that answers no request.
#[derive(Serialize, TS)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum BridgeStatus<'a> {
    /// The server's availability changed.
    Server {
        state: ServerPresence,
        attached: ServerOrigin,
        base_url: &'a str,
    },
    /// What waits for the person, or that permissions changed.
    Asks {
        /// As the server said it.
        #[ts(type = "AsksFrame")]
        frame: &'a RawValue,
    },
}

/// A message of the bridge itself.
#[derive(Serialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BridgeMessage<'a> {
    Status(BridgeStatus<'a>),
    /// A part of a message that is too long for one frame.
    Part {
        /// Id of the message.
        part: String,
        /// From 0.
        index: usize,
        /// Number of parts.
        count: usize,
        data: &'a str,
    },
    /// A failed request or an invalid message.
    Error {
        /// Absent if it could not be read.
        request_id: Option<String>,
        /// True if its id is in use: the open request continues.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>", optional)]
        refused: bool,
        error: &'a Problem,
    },
}

impl BridgeMessage<'_> {
    pub(super) fn json(&self) -> String {
        // Cannot fail: all keys are strings.
        serde_json::to_string(self).unwrap_or_default()
    }
}
