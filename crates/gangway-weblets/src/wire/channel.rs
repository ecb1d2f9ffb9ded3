//! What apps and their agents say on the channel, as JSON.

use gangway_core::AppRefusal;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// Why something was not done.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
pub struct AppFault {
    /// The code that the app sees, such as `E-AGT-004`.
    #[serde(default)]
    pub code: Option<String>,
    /// What happened.
    #[serde(default)]
    pub message: Option<String>,
}

impl From<AppRefusal> for AppFault {
    fn from(why: AppRefusal) -> Self {
        Self {
            code: Some(why.code),
            message: Some(why.message),
        }
    }
}

/// What a page of an app says.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum PageSays {
    /// Tell the agent something; acknowledged once it is kept and the agent has it.
    WebletEvent {
        /// A name of the page's own, the same when it is sent again.
        id: String,
        /// What kind of thing.
        event: String,
        /// More about it.
        #[serde(default)]
        #[ts(type = "JsonValue")]
        payload: Value,
    },
    /// Have the agent do something.
    WebletRequest {
        /// A name of the page's own, the same when it is sent again.
        request_id: String,
        /// What is to be done.
        action: String,
        /// With what.
        #[serde(default)]
        #[ts(type = "JsonValue")]
        params: Value,
    },
    /// Nobody waits any more for what the page sent under this name.
    WebletCancel {
        /// The `id` of an event, or the `requestId` of a request.
        id: String,
    },
    /// Is anyone there?
    Ping {},
}

/// What a page of an app is told.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum PageTold {
    /// The channel is open; what follows comes after this number.
    Welcome {
        /// The number to resume from.
        #[ts(type = "number")]
        seq: u64,
    },
    /// The number to resume from cannot be served without a gap; what follows comes after this one.
    Resync {
        /// The number to resume from.
        #[ts(type = "number")]
        seq: u64,
    },
    /// The agent has it.
    WebletAck {
        /// What the page called it.
        id: String,
    },
    /// It was not taken.
    WebletNack {
        /// What the page called it.
        id: String,
        /// Why.
        error: AppFault,
    },
    /// What came of a request.
    WebletResponse {
        /// What the page called it.
        request_id: String,
        /// Whether it was done.
        success: bool,
        /// What came of it.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "JsonValue")]
        result: Option<Value>,
        /// Why it was not done.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        error: Option<AppFault>,
    },
    /// The agent says something.
    AgentEvent {
        /// What kind of thing.
        event: String,
        /// More about it.
        #[ts(type = "JsonValue")]
        payload: Value,
        /// Its number in the log.
        #[ts(type = "number")]
        seq: u64,
    },
    /// The files of the app changed.
    Reload,
    /// A message made no sense.
    Error {
        /// What was wrong.
        error: String,
        /// Its name, where it had one.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        id: Option<String>,
    },
    /// Somebody is.
    Pong,
    /// The channel ends after this.
    Closing {
        /// A word for machines.
        reason: String,
        /// What to do about it.
        message: String,
    },
}

/// What an agent says about an app that was opened for it.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum AgentSays {
    /// I have this event.
    WebletAck {
        /// What the page called it.
        id: String,
    },
    /// This came of a request.
    WebletResponse {
        /// What the page called it.
        request_id: String,
        /// Whether it was done.
        success: bool,
        /// What came of it.
        #[serde(default)]
        #[ts(type = "JsonValue")]
        result: Value,
        /// Why it was not done.
        #[serde(default)]
        error: Option<AppFault>,
    },
    /// Tell the app something.
    AgentEvent {
        /// What kind of thing.
        event: String,
        /// More about it.
        #[serde(default)]
        #[ts(type = "JsonValue")]
        payload: Value,
        /// A name of the agent's own, for the answer.
        #[serde(default)]
        id: Option<String>,
    },
    /// Is anyone there?
    Ping {},
}

/// What an agent is told about an app that was opened for it.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum AgentTold {
    /// The channel is open.
    Welcome {
        /// The launch.
        launch_id: String,
        /// The app.
        app: String,
        /// The session whose log holds all this.
        session_id: String,
        /// The number of the newest thing in it.
        #[ts(type = "number")]
        seq: u64,
    },
    /// The app says something; it waits for `weblet-ack`.
    WebletEvent {
        /// What the page calls it.
        id: String,
        /// What kind of thing.
        event: String,
        /// More about it.
        #[ts(type = "JsonValue")]
        payload: Value,
        /// When, in milliseconds since 1970.
        #[ts(type = "number")]
        timestamp: i64,
        /// The app.
        weblet: String,
        /// Its number in the log.
        #[ts(type = "number")]
        seq: u64,
    },
    /// The app wants something done; it waits for `weblet-response`.
    WebletRequest {
        /// What the page calls it.
        request_id: String,
        /// What is to be done.
        action: String,
        /// With what.
        #[ts(type = "JsonValue")]
        params: Value,
        /// When, in milliseconds since 1970.
        #[ts(type = "number")]
        timestamp: i64,
        /// The app.
        weblet: String,
        /// Its number in the log.
        #[ts(type = "number")]
        seq: u64,
    },
    /// What the agent told the app is kept, and on its way.
    Sent {
        /// What the agent called it.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        id: Option<String>,
        /// Its number in the log.
        #[ts(type = "number")]
        seq: u64,
    },
    /// A message made no sense.
    Error {
        /// What was wrong.
        error: String,
        /// Its name, where it had one.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        id: Option<String>,
    },
    /// Somebody is.
    Pong,
    /// The channel ends after this.
    Closing {
        /// A word for machines.
        reason: String,
        /// What to do about it.
        message: String,
    },
}
