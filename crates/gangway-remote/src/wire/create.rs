//! Requests to create agents, and their response.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::config::Features;

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct CreateAgent {
    pub project_name: String,
    pub persona_slug: String,
    /// The first message.
    pub initial_prompt: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub feature_flags: Option<FlagsWanted>,
}

/// A program in the user's own tmux to adopt as an agent.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct AdoptAgent {
    pub project_name: String,
    /// The absolute path of the tmux server's socket.
    pub socket: String,
    /// A tmux target: `session:window.pane` or `%ID`.
    pub target: String,
    /// A persona to give it; by default the program keeps its identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub persona_slug: Option<String>,
    /// The first message, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub initial_prompt: Option<String>,
    /// A regular expression that the last line matches when the program waits for input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub prompt_pattern: Option<String>,
    /// How long without output ends a turn, in milliseconds; default 3000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub quiet_ms: Option<u64>,
    /// Allows a shell, which runs every message as a command.
    #[serde(default)]
    pub shell: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub feature_flags: Option<FlagsWanted>,
}

/// Optional features of the chat; absent ones use the defaults.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema, TS)]
pub struct FlagsWanted {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub file_upload: Option<bool>,
    /// Shows how much of the context window is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub context_usage: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub voice_mic: Option<bool>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct CreatedAgent {
    pub agent_id: String,
    /// The URL of its chat, with its token.
    pub embed_url: String,
    /// Shown only once.
    pub session_token: String,
    pub project_name: String,
    pub persona_slug: String,
    pub tmux_session_name: String,
    /// `ready`.
    pub status: String,
    pub feature_flags: Features,
    pub session_id: String,
}
