//! Messages between the broker in a page and the server.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use gangway_pages::{OfferedTool, ToolProblem};

use crate::SiteError;

/// Messages of the broker.
#[derive(Debug, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BrokerClientMessage {
    /// The first message: the page that it brokers for.
    Hello(BrokerHello),
    /// A call of the page.
    Call {
        /// Its number; counts up.
        id: u64,
        /// The method.
        method: String,
        /// The parameters.
        #[serde(default)]
        #[ts(type = "JsonValue", optional)]
        params: Value,
    },
    /// The page aborts a call.
    Abort {
        /// The call.
        id: u64,
    },
    /// The tools that the page implements, all of them.
    Tools {
        /// The tools.
        tools: Vec<OfferedTool>,
    },
    /// The result of a tool of the page.
    ToolResult {
        /// The call of the tool.
        call: u64,
        /// The result.
        #[serde(default)]
        #[ts(type = "JsonValue", optional)]
        result: Value,
        /// The error.
        #[serde(default)]
        #[ts(optional)]
        error: Option<ToolProblem>,
    },
    /// Acknowledges messages up to this number.
    Ack {
        /// The number.
        n: u64,
    },
    /// The page was closed.
    Bye,
}

/// The first message of a broker.
#[derive(Debug, Deserialize, TS)]
pub struct BrokerHello {
    /// The version of this protocol.
    pub v: u32,
    /// The origin of the page, as reported by the browser.
    pub origin: String,
    /// The tab.
    pub tab: String,
    /// The origins of the page's ancestors, nearest first, as reported by the browser; empty for a top page. `null`
    /// where the browser does not report it.
    #[serde(default)]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub ancestors: Vec<String>,
    /// The visit to resume after a lost connection.
    #[serde(default)]
    #[ts(optional)]
    pub visit: Option<String>,
    /// The last number received.
    #[serde(default)]
    #[ts(optional, as = "Option<u64>")]
    pub seen: u64,
    /// A token that replaces the user's login, where cookies are blocked.
    #[serde(default)]
    #[ts(optional)]
    pub token: Option<String>,
}

/// The answer to a hello.
#[derive(Debug, Serialize, TS)]
#[serde(tag = "type", rename = "welcome", rename_all = "camelCase")]
pub struct BrokerWelcome {
    /// The id of the visit, for reconnecting.
    pub visit: String,
    /// Whether a visit was resumed.
    pub resumed: bool,
    /// Whether the visitor must first prove to be the user.
    pub locked: bool,
    /// The interval of pings on a silent connection.
    pub heartbeat_seconds: u64,
}

/// The broker is rejected; the connection closes after it.
#[derive(Debug, Serialize, TS)]
#[serde(tag = "type", rename = "refused")]
pub struct BrokerRefused {
    /// The error.
    pub error: SiteError,
}
