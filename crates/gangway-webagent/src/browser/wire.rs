//! What the extension and the server exchange about the tab in front.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;
use utoipa::ToSchema;

/// One thing that the extension is to do in the tab in front.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BrowserAct {
    /// Names it in the answer.
    pub id: String,
    /// What to do.
    pub action: BrowserAction,
    /// The origins of Gangway itself, on whose pages nothing is done.
    pub own: Vec<String>,
}

/// What an agent does in the tab in front.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum BrowserAction {
    /// Read the text of the page and list what can be used on it.
    ReadPage {},
    /// Click an element.
    Click {
        /// The origin of the page that is meant.
        origin: String,
        /// A CSS selector or a reference.
        target: String,
    },
    /// Fill in a field.
    Fill {
        /// The origin of the page that is meant.
        origin: String,
        /// A CSS selector or a reference.
        target: String,
        /// What to write.
        value: String,
    },
    /// Take a picture.
    Screenshot {},
}

/// What an action in the tab in front came to.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema, TS)]
pub struct BrowserAnswer {
    /// What it gave.
    #[serde(default)]
    #[ts(type = "JsonValue", optional)]
    pub result: Value,
    /// Why it was not done.
    #[serde(default)]
    #[ts(optional)]
    pub error: Option<BrowserProblem>,
}

/// Why something could not be done in the tab in front.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema, TS)]
pub struct BrowserProblem {
    /// Its name, as pages know it.
    pub code: String,
    /// What was wrong and what to do.
    pub message: String,
}
