//! What travels between the broker in a page and this server.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{Described, SiteError};

/// What the broker says.
#[derive(Debug, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BrokerSays {
    /// Who it brokers for; the first message.
    Hello(BrokerHello),
    /// The page wants something.
    Call {
        /// Counts up.
        id: u64,
        /// What.
        method: String,
        /// How.
        #[serde(default)]
        #[ts(type = "JsonValue", optional)]
        params: Value,
    },
    /// The page no longer wants it.
    Abort {
        /// The call.
        id: u64,
    },
    /// The tools that the page implements itself, all of them.
    Tools {
        /// The tools.
        tools: Vec<Described>,
    },
    /// What a tool of the page came to.
    ToolResult {
        /// The call of the tool.
        call: u64,
        /// What it gave.
        #[serde(default)]
        #[ts(type = "JsonValue", optional)]
        result: Value,
        /// Why it failed.
        #[serde(default)]
        #[ts(optional)]
        error: Option<ToolProblem>,
    },
    /// Everything up to this number has come.
    Ack {
        /// The number.
        n: u64,
    },
    /// The page is gone.
    Bye,
}

/// The first message of a broker.
#[derive(Debug, Deserialize, TS)]
pub struct BrokerHello {
    /// The version of this protocol.
    pub v: u32,
    /// The origin of the page, as the browser told the broker.
    pub origin: String,
    /// The tab.
    pub tab: String,
    /// The origins of the pages around it, nearest first, as the browser says them; none for a page in a tab of its own. What the
    /// browser does not say is `null`.
    #[serde(default)]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub ancestors: Vec<String>,
    /// The visit that goes on after a lost connection.
    #[serde(default)]
    #[ts(optional)]
    pub visit: Option<String>,
    /// The last number that came.
    #[serde(default)]
    #[ts(optional, as = "Option<u64>")]
    pub seen: u64,
    /// What lets it in where the person's log-in cannot come along.
    #[serde(default)]
    #[ts(optional)]
    pub token: Option<String>,
}

/// Why a tool of a page failed.
#[derive(Debug, Deserialize, TS)]
pub struct ToolProblem {
    /// In words.
    #[serde(default)]
    pub message: String,
}

/// The answer to a hello.
#[derive(Debug, Serialize, TS)]
#[serde(tag = "type", rename = "welcome", rename_all = "camelCase")]
pub struct BrokerWelcome {
    /// Names the visit when the connection is lost.
    pub visit: String,
    /// Whether a visit goes on.
    pub resumed: bool,
    /// Whether the person must show first that this Gangway is theirs.
    pub locked: bool,
    /// A silent connection is looked after this often.
    pub heartbeat_seconds: u64,
}

/// A broker that is not let in; the connection closes after it.
#[derive(Debug, Serialize, TS)]
#[serde(tag = "type", rename = "refused")]
pub struct BrokerRefused {
    /// Why.
    pub error: SiteError,
}
