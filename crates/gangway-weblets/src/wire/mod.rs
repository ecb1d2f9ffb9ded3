//! Bodies of the REST routes; the messages of the channel are in `channel`.

pub mod channel;

use gangway_core::AppAgent;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;
use utoipa::ToSchema;

use gangway_apps::manifest::{ContextFields, Delivery, Problem};

#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppInfo {
    pub name: String,
    pub title: String,
    /// One or two characters such as an emoji, or an image as a `data:` URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub icon: Option<String>,
    pub description: String,
    pub version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub category: Option<String>,
    pub tags: Vec<String>,
    /// When an agent should suggest it.
    pub triggers: Vec<String>,
    pub provides: Vec<String>,
    /// Whether agents can find it.
    pub discoverable: bool,
    /// Whether agents may launch it.
    pub launchable: bool,
    /// `builtin`, `named` or `folder`.
    pub origin: String,
    /// Its URL without an agent.
    pub url: String,
    pub problems: Vec<Problem>,
    /// Events that it emits.
    pub events: Vec<AppEventInfo>,
    /// How its events reach a built-in agent.
    pub delivery: Delivery,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
pub struct AppEventInfo {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
}

#[derive(Debug, Serialize, ToSchema, TS)]
pub struct AppList {
    /// Sorted by name, or by relevance if there is a query.
    pub apps: Vec<AppInfo>,
    /// Folders whose apps are not loaded until they are trusted.
    pub untrusted: Vec<UntrustedFolder>,
}

#[derive(Debug, Serialize, ToSchema, TS)]
pub struct UntrustedFolder {
    pub folder: String,
    /// Number of apps.
    pub apps: usize,
}

#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct TrustFolder {
    pub folder: String,
    pub trusted: bool,
}

#[derive(Debug, Serialize, ToSchema, TS)]
pub struct AppDetails {
    #[serde(flatten)]
    pub app: AppInfo,
    /// The data and config that it accepts.
    pub context: ContextFields,
    /// The text of its manifest, in Markdown.
    pub about: String,
    /// Actions that the user has always allowed.
    pub grants: Vec<String>,
}

/// The agent of a launch: its name, or more.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(untagged)]
pub enum LaunchAgent {
    Name(String),
    Whole {
        name: String,
        /// Such as 1.0.0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        version: Option<String>,
        #[serde(default)]
        capabilities: Vec<String>,
    },
}

impl From<LaunchAgent> for AppAgent {
    fn from(agent: LaunchAgent) -> Self {
        let (name, version, capabilities) = match agent {
            LaunchAgent::Name(name) => (name, None, Vec::new()),
            LaunchAgent::Whole {
                name,
                version,
                capabilities,
            } => (name, version, capabilities),
        };
        Self {
            name,
            version: version.unwrap_or_else(|| "0.0.0".to_owned()),
            capabilities,
        }
    }
}

#[derive(Debug, Default, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LaunchApp {
    /// Default is the session's agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub agent: Option<LaunchAgent>,
    #[schema(value_type = Object)]
    #[ts(type = "Record<string, JsonValue>")]
    pub data: Map<String, Value>,
    #[schema(value_type = Object)]
    #[ts(type = "Record<string, JsonValue>")]
    pub config: Map<String, Value>,
    /// Default is a new session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub session: Option<String>,
    /// The origin of a page that embeds the app.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub embed_origin: Option<String>,
    /// Whether its pages reload when its files change.
    pub reload: bool,
}

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct LaunchedApp {
    pub launch_id: String,
    /// Valid for one browser.
    pub url: String,
    /// When the URL expires.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// The session that logs the channel.
    pub session_id: String,
    pub warnings: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct LaunchInfo {
    pub launch_id: String,
    pub app: String,
    /// The session that logs the channel.
    pub session_id: String,
    /// The agent's name.
    pub agent: String,
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When its addresses expire.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// Number of connected pages.
    pub open: usize,
    /// Whether it has a built-in or connected agent.
    pub attached: bool,
}

#[derive(Debug, Default, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct OpenLaunch {
    /// The origin of a page that embeds the app.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub embed_origin: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct OpenedLaunch {
    /// Valid for one browser.
    pub url: String,
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct SendAppEvent {
    /// Lowercase letters, digits and hyphens.
    pub event: String,
    #[serde(default)]
    #[schema(value_type = Object)]
    #[ts(type = "JsonValue")]
    pub payload: Value,
}

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct SentAppEvent {
    /// Its number in the log.
    #[ts(type = "number")]
    pub seq: u64,
}

#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EnterApp {
    /// The path in the app, with its query.
    pub path: String,
}

/// What a page of an app is shown with in a replay.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReplayApp {
    /// The launch; a page that was opened without an agent has none.
    #[serde(default)]
    #[ts(optional)]
    pub launch_id: Option<String>,
}

#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppAddress {
    /// Valid for one minute; that of a replay for one day.
    pub url: String,
}
