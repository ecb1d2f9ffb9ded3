//! Bodies of the REST routes; the messages of the channel are in `channel`.

pub mod channel;
mod file;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::{Applet, Origin};

#[derive(Debug, Serialize, ToSchema, TS)]
pub struct AppletList {
    /// Sorted by slug.
    pub applets: Vec<AppletInfo>,
}

#[derive(Debug, Serialize, ToSchema, TS)]
pub struct AppletInfo {
    /// Its name in URLs.
    pub slug: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
    /// `builtin`, `apps` or `data`.
    pub origin: String,
    /// The URL of its frame, for a page that answers it itself.
    pub frame: String,
    /// Why it cannot be opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<String>,
}

impl AppletInfo {
    #[must_use]
    pub fn new(applet: Applet, frame: String) -> Self {
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
            frame,
            problem: applet.problem,
        }
    }
}

#[derive(Debug, Serialize, ToSchema, TS)]
pub struct AppletConsentList {
    /// Applets that were allowed, denied, or have asked.
    pub applets: Vec<AppletConsent>,
}

#[derive(Debug, Serialize, ToSchema, TS)]
pub struct AppletConsent {
    pub slug: String,
    pub name: String,
    /// `allowed`, `denied` or `ask`.
    pub speak: String,
    /// The message that waits for consent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub asking: Option<PendingConsent>,
}

#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct PendingConsent {
    pub prompt: String,
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub asked_at: Timestamp,
}

#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct SetAppletConsent {
    pub speak: ConsentDecision,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum ConsentDecision {
    /// Allow the waiting message only.
    Once,
    /// Allow in this session.
    Allow,
    /// Allow in every session.
    Always,
    /// Deny in this session.
    Deny,
    /// Ask again.
    Ask,
}
