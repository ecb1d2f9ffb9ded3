//! Bodies of the REST routes; the messages of the channel are in `channel`.

pub mod channel;
mod file;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::{Applet, Origin};

/// The applets there are.
#[derive(Debug, Serialize, ToSchema, TS)]
pub struct AppletList {
    /// By slug.
    pub applets: Vec<AppletInfo>,
}

/// An applet.
#[derive(Debug, Serialize, ToSchema, TS)]
pub struct AppletInfo {
    /// Its name in addresses.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
    /// `builtin`, `apps` or `data`.
    pub origin: String,
    /// Why it cannot be opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<String>,
}

impl From<Applet> for AppletInfo {
    fn from(applet: Applet) -> Self {
        let origin = match applet.origin {
            Origin::Builtin => "builtin",
            Origin::Apps => "apps",
            Origin::Data => "data",
        };
        Self {
            slug: applet.slug.to_string(),
            name: applet.name,
            description: applet.description,
            origin: origin.to_owned(),
            problem: applet.problem,
        }
    }
}

/// Who can speak in a session beside the person.
#[derive(Debug, Serialize, ToSchema, TS)]
pub struct Speakers {
    /// Every applet that may speak there, may not, or was asked about.
    pub applets: Vec<Speaker>,
}

/// An applet in a session.
#[derive(Debug, Serialize, ToSchema, TS)]
pub struct Speaker {
    /// Which.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// `allowed`, `denied` or `ask`.
    pub speak: String,
    /// What it waits to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub asking: Option<AskingToSpeak>,
}

/// What an applet waits to say.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct AskingToSpeak {
    /// What.
    pub prompt: String,
    /// Since when it waits.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub asked_at: Timestamp,
}

/// A decision about an applet in a session.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct DecideSpeech {
    /// What is decided.
    pub speak: Decision,
}

/// What can be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    /// What waits now may be said, and nothing else.
    Once,
    /// It may speak in this session.
    Allow,
    /// It may speak in every session.
    Always,
    /// It may not speak in this session.
    Deny,
    /// Ask again.
    Ask,
}
