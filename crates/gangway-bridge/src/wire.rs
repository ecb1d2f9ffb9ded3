//! The messages to the extension that are not answers of the server passed on; TypeScript is generated from here.

use serde::Serialize;
use serde_json::value::RawValue;
use ts_rs::TS;

use crate::{problem::Problem, server::Attached};

/// The answer to `hello`.
#[derive(Serialize, TS)]
pub struct BridgeHello {
    /// The version of the protocol.
    pub protocol: u64,
    /// The version of Gangway.
    pub gangway: &'static str,
    /// The process of the bridge.
    pub pid: u32,
    /// How the bridge came to its Gangway.
    pub attached: Attached,
    /// Where that Gangway is.
    pub base_url: String,
    /// The kinds of messages it knows.
    pub capabilities: Vec<&'static str>,
    /// How much it takes at once.
    pub limits: BridgeLimits,
}

/// How much a bridge takes at once.
#[derive(Serialize, TS)]
pub struct BridgeLimits {
    /// Bytes of a message from the extension.
    pub frame_bytes: usize,
    /// Bytes of a frame to the extension; longer messages come in parts.
    pub reply_bytes: usize,
    /// Requests that are open.
    pub requests: usize,
    /// Pages that are open.
    pub pages: usize,
}

/// Whether there is a server.
#[derive(Clone, Copy, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ServerPresence {
    /// It answers.
    Up,
    /// It does not.
    Gone,
}

/// A notification: a message that answers no request.
#[derive(Serialize, TS)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum BridgeStatus<'a> {
    /// The server came or went.
    Server {
        /// Which of both.
        state: ServerPresence,
        /// How the bridge came to it.
        attached: Attached,
        /// Where it is.
        base_url: &'a str,
    },
    /// What waits for the person, or that permissions changed.
    Asks {
        /// As the server said it.
        #[ts(type = "AsksFrame")]
        frame: &'a RawValue,
    },
}

/// A message that is not an answer of the server passed on.
#[derive(Serialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BridgeTold<'a> {
    /// Something changed.
    Status(BridgeStatus<'a>),
    /// A piece of a message that is too long for one frame.
    Part {
        /// Which message.
        part: String,
        /// Which piece, from 0 on.
        index: usize,
        /// How many there are.
        count: usize,
        /// The piece.
        data: &'a str,
    },
    /// A request failed, or a message was not understood.
    Error {
        /// Which request, where that could be read.
        request_id: Option<String>,
        /// True when its id is in use: the request that has it goes on.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>", optional)]
        refused: bool,
        /// Why.
        error: &'a Problem,
    },
}

impl BridgeTold<'_> {
    /// As it is sent.
    pub(super) fn json(&self) -> String {
        // With string keys it always encodes.
        serde_json::to_string(self).unwrap_or_default()
    }
}
