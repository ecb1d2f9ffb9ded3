//! Messages between the extension and the server about the active tab.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;
use utoipa::ToSchema;

/// An action that the extension executes in the active tab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BrowserAct {
    /// Its id.
    pub id: String,
    /// The action.
    pub action: BrowserAction,
    /// Gangway's own origins, on whose pages actions are refused.
    pub own: Vec<String>,
}

/// An action in the active tab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum BrowserAction {
    /// Read the page's text and list its interactive elements.
    ReadPage {},
    /// Click an element.
    Click {
        /// The origin of the page.
        origin: String,
        /// A CSS selector or a reference.
        target: String,
    },
    /// Fill in a field.
    Fill {
        /// The origin of the page.
        origin: String,
        /// A CSS selector or a reference.
        target: String,
        /// The value.
        value: String,
    },
    /// Take a screenshot.
    Screenshot {},
}

/// The result of an action in the active tab.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema, TS)]
pub struct BrowserAnswer {
    /// The result.
    #[serde(default)]
    #[ts(type = "JsonValue", optional)]
    pub result: Value,
    /// The error.
    #[serde(default)]
    #[ts(optional)]
    pub error: Option<BrowserProblem>,
}

/// Why an action in the active tab failed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema, TS)]
pub struct BrowserProblem {
    /// The error code, as pages know it.
    pub code: String,
    /// What was wrong and what to do.
    pub message: String,
}
