//! Bodies of the REST routes; the messages of the channel are in `channel`.

pub mod channel;

use gangway_core::AppAgent;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;
use utoipa::ToSchema;

use gangway_apps::manifest::{ContextFields, Delivery, Problem};

/// An app.
#[derive(Debug, Clone, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppInfo {
    /// Its name.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// What stands for it: a character or two such as an emoji, or a picture as a `data:` URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub icon: Option<String>,
    /// What it is for.
    pub description: String,
    /// Which version of it this is.
    pub version: String,
    /// What kind of app it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub category: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// When an agent should think of it.
    pub triggers: Vec<String>,
    /// What it gives.
    pub provides: Vec<String>,
    /// Whether agents find it.
    pub discoverable: bool,
    /// Whether agents may open it.
    pub launchable: bool,
    /// `builtin`, `named` or `folder`.
    pub origin: String,
    /// Where it is without an agent.
    pub url: String,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// What it tells its agent.
    pub events: Vec<AppEventInfo>,
    /// How its events reach an agent in the house.
    pub delivery: Delivery,
}

/// An event that an app emits.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
pub struct AppEventInfo {
    /// Its name.
    pub name: String,
    /// When it is emitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
}

/// The apps there are.
#[derive(Debug, Serialize, ToSchema, TS)]
pub struct AppList {
    /// By name, or the best first where a sentence was given.
    pub apps: Vec<AppInfo>,
    /// Folders beside which Gangway was started, and whose apps are not loaded.
    pub untrusted: Vec<UntrustedFolder>,
}

/// A folder whose apps are not loaded until it is trusted.
#[derive(Debug, Serialize, ToSchema, TS)]
pub struct UntrustedFolder {
    /// Its path.
    pub folder: String,
    /// How many apps are in it.
    pub apps: usize,
}

/// Whether the apps of a folder are loaded.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct TrustFolder {
    /// Its path.
    pub folder: String,
    /// Whether they are.
    pub trusted: bool,
}

/// All about an app.
#[derive(Debug, Serialize, ToSchema, TS)]
pub struct AppDetails {
    /// What the list says.
    #[serde(flatten)]
    pub app: AppInfo,
    /// What it can be launched with.
    pub context: ContextFields,
    /// What it says about itself, Markdown.
    pub about: String,
    /// What the person said that it may always do.
    pub grants: Vec<String>,
}

/// Who an app is opened for: a name, or more than that.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(untagged)]
pub enum LaunchAgent {
    /// What it calls itself.
    Name(String),
    /// More about it.
    Whole {
        /// What it calls itself.
        name: String,
        /// Its version, such as 1.0.0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        version: Option<String>,
        /// What it can do.
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

/// What to open an app with.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LaunchApp {
    /// The agent; the one that takes the session's turns when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub agent: Option<LaunchAgent>,
    /// What the app is given.
    #[schema(value_type = Object)]
    #[ts(type = "Record<string, JsonValue>")]
    pub data: Map<String, Value>,
    /// How it is set up.
    #[schema(value_type = Object)]
    #[ts(type = "Record<string, JsonValue>")]
    pub config: Map<String, Value>,
    /// The session; a new one when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub session: Option<String>,
    /// The origin of a page that holds the app in a frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub embed_origin: Option<String>,
    /// Whether its pages load anew when its files change.
    pub reload: bool,
}

/// An app that was opened.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct LaunchedApp {
    /// The launch.
    pub launch_id: String,
    /// Its address; good for one browser.
    pub url: String,
    /// When the address ends.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// The session whose log holds what app and agent say.
    pub session_id: String,
    /// What might not be as it was meant.
    pub warnings: Vec<String>,
}

/// A launch.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct LaunchInfo {
    /// The launch.
    pub launch_id: String,
    /// The app.
    pub app: String,
    /// The session whose log holds what app and agent say.
    pub session_id: String,
    /// What the agent calls itself.
    pub agent: String,
    /// When it was opened.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When its addresses end.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// Pages that are connected.
    pub open: usize,
    /// Whether an agent has it: one in the house, or one that is connected.
    pub attached: bool,
}

/// Another address for a launch.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct OpenLaunch {
    /// The origin of a page that holds the app in a frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub embed_origin: Option<String>,
}

/// An address of a launch.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct OpenedLaunch {
    /// The address; good for one browser.
    pub url: String,
    /// When it ends.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// Something to tell an app.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct TellApp {
    /// What kind of thing: small letters, digits and hyphens.
    pub event: String,
    /// More about it.
    #[serde(default)]
    #[schema(value_type = Object)]
    #[ts(type = "JsonValue")]
    pub payload: Value,
}

/// It is on its way.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct ToldApp {
    /// Its number in the log.
    #[ts(type = "number")]
    pub seq: u64,
}

/// Where to go in an app.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EnterApp {
    /// The path in the app, with its query.
    pub path: String,
}

/// The address that opens an app in this browser.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppAddress {
    /// It is good for a minute.
    pub url: String,
}
