//! Requests for agents, and their answer.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::config::Features;

/// An agent to be made.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct CreateAgent {
    /// The project it works for.
    pub project_name: String,
    /// Who it is.
    pub persona_slug: String,
    /// What it is told first.
    pub initial_prompt: String,
    /// What its chat shows beside the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub feature_flags: Option<FlagsWanted>,
}

/// A program in the person's own tmux that is to become an agent.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct AdoptAgent {
    /// The project it works for.
    pub project_name: String,
    /// The socket of the tmux server, as an absolute path.
    pub socket: String,
    /// The pane, as tmux names it: `session:window.pane` or `%ID`.
    pub target: String,
    /// A persona to tell it; without one it is who it was before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub persona_slug: Option<String>,
    /// What it is told first, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub initial_prompt: Option<String>,
    /// A regular expression that the last line fits when the program waits for input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub prompt_pattern: Option<String>,
    /// How long it must be quiet to be done, in milliseconds; 3000 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub quiet_ms: Option<u64>,
    /// Allows a shell, which runs every message as a command.
    #[serde(default)]
    pub shell: bool,
    /// What its chat shows beside the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub feature_flags: Option<FlagsWanted>,
}

/// What a chat is to show; what is absent is as the settings have it.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema, TS)]
pub struct FlagsWanted {
    /// Files can be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub file_upload: Option<bool>,
    /// How full the model's window is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub context_usage: Option<bool>,
    /// The microphone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub voice_mic: Option<bool>,
}

/// An agent that is ready.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct CreatedAgent {
    /// Its id.
    pub agent_id: String,
    /// Where its chat is, with its token.
    pub embed_url: String,
    /// What lets its maker in; it is never shown again.
    pub session_token: String,
    /// Its project.
    pub project_name: String,
    /// Who it is.
    pub persona_slug: String,
    /// Its tmux session.
    pub tmux_session_name: String,
    /// `ready`.
    pub status: String,
    /// What its chat shows.
    pub feature_flags: Features,
    /// Its session here.
    pub session_id: String,
}
