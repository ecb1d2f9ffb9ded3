//! Wire types of the demo.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum DemoState {
    Running,
    Done,
    /// The person denied something, which ends it.
    Denied,
    Failed,
    /// The person ended it.
    Stopped,
}

impl DemoState {
    #[must_use]
    pub fn is_running(self) -> bool {
        self == Self::Running
    }
}

/// Something that happened.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
pub struct DemoStep {
    /// Who did it, such as "MCP client".
    pub actor: String,
    pub text: String,
}

/// What the demo waits for the person to do.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
pub struct DemoTask {
    pub text: String,
    /// The page to open, if that is it.
    pub url: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct DemoInfo {
    /// Counts changes.
    pub version: u64,
    pub state: DemoState,
    /// The chat that it is in.
    pub session_id: Option<String>,
    /// The app that it launched.
    pub app: String,
    pub launch_id: Option<String>,
    pub steps: Vec<DemoStep>,
    pub task: Option<DemoTask>,
    /// Why it ended, unless it is done.
    pub error: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
pub struct DemoStatus {
    /// The running demo, or the last one.
    pub demo: Option<DemoInfo>,
}
