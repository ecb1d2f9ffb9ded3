//! Requests and responses of the routes of remote agents.

mod create;

pub use create::{AdoptAgent, CreateAgent, CreatedAgent, FlagsWanted};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::{
    AgentState, StoredIn,
    config::{Features, PersonaConfig, ProjectConfig},
};

/// An agent, for administrators.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct RemoteAgentInfo {
    pub agent_id: String,
    pub project_name: String,
    pub persona_slug: String,
    pub tmux_session_name: String,
    /// Shell command that attaches a terminal.
    pub attach_command: String,
    pub backend: String,
    pub alive: bool,
    /// Whether its context can be compacted.
    #[serde(default)]
    pub can_hand_over: bool,
    /// The state of a live agent.
    #[schema(value_type = Option<AgentState>)]
    #[ts(type = "AgentState | null")]
    pub state: Option<String>,
    /// Whether its process is connected.
    pub attached: bool,
    pub session_id: String,
    pub feature_flags: Features,
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub last_active_at: Timestamp,
    #[ts(type = "string | null")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
    pub ended_reason: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct RemoteAgentList {
    /// Newest first.
    pub agents: Vec<RemoteAgentInfo>,
    /// Maximum number of live agents.
    #[ts(type = "number")]
    pub limit: usize,
    /// Default features of chats.
    #[serde(default)]
    pub embed_defaults: Features,
}

#[derive(Debug, Serialize, ToSchema, TS)]
pub struct AgentAlive {
    pub alive: bool,
    /// Absent if it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub agent_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub state: Option<AgentState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub project_name: Option<String>,
    /// Why it is not alive: `agent_not_found` or `agent_ended`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct AgentShutdown {
    /// `shutdown_initiated` or `already_terminated`.
    pub status: String,
    /// A message for people.
    pub message: String,
    pub agent_id: String,
}

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct AgentHandOver {
    /// `hand_over_requested`.
    pub status: String,
    /// A message for people.
    pub message: String,
    pub agent_id: String,
}

#[derive(Debug, Serialize, ToSchema, TS)]
pub struct AgentToken {
    /// Replaces the previous one.
    pub session_token: String,
    /// The URL of the chat, with the token.
    pub embed_url: String,
}

#[derive(Debug, Default, Deserialize, ToSchema, TS)]
#[serde(default)]
pub struct OpenFrame {
    /// Flags of its URL.
    #[ts(optional, as = "Option<FlagsWanted>")]
    pub feature_flags: FlagsWanted,
}

#[derive(Debug, Serialize, ToSchema, TS)]
pub struct FrameInfo {
    /// Valid for the chat in this frame only.
    pub frame_token: String,
    pub agent_id: String,
    pub project_name: String,
    pub persona_slug: String,
    /// Absent when it has ended.
    pub state: Option<AgentState>,
    pub feature_flags: Features,
    pub upload: UploadRules,
    /// Whether speech recognition is available.
    pub speech: bool,
    /// Origins that events may be posted to.
    pub parents: Vec<String>,
}

#[derive(Debug, Serialize, ToSchema, TS)]
pub struct UploadRules {
    /// Size limit of a file.
    #[ts(type = "number")]
    pub max_bytes: u64,
    /// Media types, with `*` as wildcard.
    pub types: Vec<String>,
}

#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct PostToAgent {
    pub text: String,
    /// Paths of uploads.
    #[serde(default)]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub attachments: Vec<String>,
}

#[derive(Debug, Serialize, ToSchema, TS)]
pub struct AcceptedByAgent {
    /// Identifies the turn.
    pub stream_id: String,
}

#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct AnswerToAgent {
    pub question_id: String,
    pub answer: String,
}

/// A binary body in the OpenAPI document.
pub enum RawBody {}

impl utoipa::PartialSchema for RawBody {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        use utoipa::openapi::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)))
            .into()
    }
}

impl ToSchema for RawBody {}

/// An empty object.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct EmptyBody {}

#[derive(Debug, Serialize, ToSchema, TS)]
pub struct Uploaded {
    /// Relative to the agent's folder.
    pub path: String,
    pub name: String,
    /// In bytes.
    #[ts(type = "number")]
    pub size: u64,
    /// The media type.
    pub r#type: String,
}

#[derive(Debug, Serialize, ToSchema, TS)]
pub struct SpeechText {
    pub text: String,
}

/// A frame of an agent's stream that is not an event of its session.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(tag = "type")]
pub enum AgentFrame {
    #[serde(rename = "agent.state")]
    State { state: AgentState },
    /// The last frame.
    #[serde(rename = "agent.ended")]
    Ended { reason: String },
}

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct ProjectInfo {
    pub name: String,
    #[serde(flatten)]
    #[ts(flatten)]
    pub project: ProjectConfig,
    pub from: StoredIn,
    /// Whether its folder is missing.
    pub missing: bool,
}

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct ProjectList {
    /// Sorted by name.
    pub projects: Vec<ProjectInfo>,
    /// Available backends.
    pub backends: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct PersonaInfo {
    pub slug: String,
    #[serde(flatten)]
    #[ts(flatten)]
    pub persona: PersonaConfig,
    pub from: StoredIn,
    /// Whether it has `experience.md`.
    pub has_experience: bool,
    /// Whether it is unreadable.
    pub missing: bool,
    /// Whether its folder was created by Gangway and is deleted with the persona.
    #[serde(default)]
    pub own: bool,
}

#[derive(Debug, Serialize, ToSchema, TS)]
pub struct PersonaText {
    pub slug: String,
    pub folder: String,
    /// One from config.yaml is read-only.
    pub from: StoredIn,
    /// `skill.md`: abilities and behavior.
    pub skill: String,
    /// `experience.md`: background, if any.
    pub experience: Option<String>,
    /// Identifies these texts; sent back with a change.
    pub version: String,
}

/// Texts of a changed or new persona.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct PutPersonaText {
    /// `skill.md`.
    pub skill: String,
    /// `experience.md`; absent or empty for none.
    #[serde(default)]
    #[ts(optional)]
    pub experience: Option<String>,
    /// The version that is changed; absent for a new persona.
    #[serde(default)]
    #[ts(optional)]
    pub version: Option<String>,
}

#[derive(Debug, Serialize, ToSchema, TS)]
pub struct WrittenPersonaText {
    pub version: String,
}

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct PersonaList {
    /// Sorted by slug.
    pub personas: Vec<PersonaInfo>,
}
