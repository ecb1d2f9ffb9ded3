//! What the routes of remote agents read and answer, as JSON.

mod create;

pub use create::{AdoptAgent, CreateAgent, CreatedAgent, FlagsWanted};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::{
    AgentState, KeptIn,
    config::{Features, PersonaConfig, ProjectConfig},
};

/// An agent as those who look after it see it.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct RemoteAgentInfo {
    /// Its id.
    pub agent_id: String,
    /// Its project.
    pub project_name: String,
    /// Who it is.
    pub persona_slug: String,
    /// Its tmux session.
    pub tmux_session_name: String,
    /// How to join it in a terminal.
    pub attach_command: String,
    /// What thinks in it.
    pub brain: String,
    /// Whether it lives.
    pub alive: bool,
    /// Whether it can continue in a fresh context, with a summary.
    #[serde(default)]
    pub can_hand_over: bool,
    /// What it is doing, while it lives.
    #[schema(value_type = Option<AgentState>)]
    #[ts(type = "AgentState | null")]
    pub state: Option<String>,
    /// Whether its process is connected.
    pub attached: bool,
    /// Its session here.
    pub session_id: String,
    /// What its chat shows.
    pub feature_flags: Features,
    /// When it was made.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When something last happened in it.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub last_active_at: Timestamp,
    /// When it ended.
    #[ts(type = "string | null")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
    /// Why it ended.
    pub ended_reason: Option<String>,
}

/// The agents there are.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct RemoteAgentList {
    /// The agents, newest first.
    pub agents: Vec<RemoteAgentInfo>,
    /// How many may live at once.
    #[ts(type = "number")]
    pub limit: usize,
    /// What chats show where the create request does not say.
    #[serde(default)]
    pub embed_defaults: Features,
}

/// Whether an agent lives.
#[derive(Debug, Serialize, ToSchema, TS)]
pub struct AgentAlive {
    /// Whether it does.
    pub alive: bool,
    /// Its id, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub agent_id: Option<String>,
    /// What it is doing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub state: Option<AgentState>,
    /// Its project.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub project_name: Option<String>,
    /// Why it does not: `agent_not_found` or `agent_ended`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<String>,
}

/// What came of ending an agent.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct AgentShutdown {
    /// `shutdown_initiated` or `already_terminated`.
    pub status: String,
    /// The same for people.
    pub message: String,
    /// The agent.
    pub agent_id: String,
}

/// What came of asking for a hand-over.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct AgentHandOver {
    /// `hand_over_requested`.
    pub status: String,
    /// The same for people.
    pub message: String,
    /// The agent.
    pub agent_id: String,
}

/// A new session token.
#[derive(Debug, Serialize, ToSchema, TS)]
pub struct AgentToken {
    /// The token; the old one is no longer good.
    pub session_token: String,
    /// Where the chat is, with it.
    pub embed_url: String,
}

/// What a frame asks for when it opens.
#[derive(Debug, Default, Deserialize, ToSchema, TS)]
#[serde(default)]
pub struct OpenFrame {
    /// What its address asks for.
    #[ts(optional, as = "Option<FlagsWanted>")]
    pub feature_flags: FlagsWanted,
}

/// What a frame learns.
#[derive(Debug, Serialize, ToSchema, TS)]
pub struct FrameInfo {
    /// Lets this frame in, and is for the chat alone.
    pub frame_token: String,
    /// The agent.
    pub agent_id: String,
    /// Its project.
    pub project_name: String,
    /// Who it is.
    pub persona_slug: String,
    /// What it is doing; absent when it has ended.
    pub state: Option<AgentState>,
    /// What to show beside the conversation.
    pub feature_flags: Features,
    /// What may be uploaded.
    pub upload: UploadRules,
    /// Whether speech can be turned into text here.
    pub speech: bool,
    /// The origins to which events may be told.
    pub parents: Vec<String>,
}

/// What may be uploaded.
#[derive(Debug, Serialize, ToSchema, TS)]
pub struct UploadRules {
    /// Bytes of one file.
    #[ts(type = "number")]
    pub max_bytes: u64,
    /// Types, `*` for all of a kind.
    pub types: Vec<String>,
}

/// Something to say to an agent.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct PostToAgent {
    /// What.
    pub text: String,
    /// Paths of uploads that belong to it.
    #[serde(default)]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub attachments: Vec<String>,
}

/// What was accepted.
#[derive(Debug, Serialize, ToSchema, TS)]
pub struct AcceptedByAgent {
    /// Names the turn that answers it.
    pub stream_id: String,
}

/// An answer to a question of an agent.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct AnswerToAgent {
    /// The question.
    pub question_id: String,
    /// The answer.
    pub answer: String,
}

/// A body that is the bytes themselves, in the OpenAPI document.
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

/// Nothing more to say.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct Nothing {}

/// A file that has arrived.
#[derive(Debug, Serialize, ToSchema, TS)]
pub struct Uploaded {
    /// Where it is in the agent's folder.
    pub path: String,
    /// What it is called there.
    pub name: String,
    /// Its bytes.
    #[ts(type = "number")]
    pub size: u64,
    /// Its type.
    pub r#type: String,
}

/// What was said, as text.
#[derive(Debug, Serialize, ToSchema, TS)]
pub struct SpeechText {
    /// The text.
    pub text: String,
}

/// A frame of an agent's stream that is no event of its session.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(tag = "type")]
pub enum AgentFrame {
    /// What it is doing, from now on.
    #[serde(rename = "agent.state")]
    State {
        /// What.
        state: AgentState,
    },
    /// It is over, and so is the stream.
    #[serde(rename = "agent.ended")]
    Ended {
        /// Why.
        reason: String,
    },
}

/// A project.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct ProjectInfo {
    /// Its name.
    pub name: String,
    /// Its folder, and what works in it.
    #[serde(flatten)]
    #[ts(flatten)]
    pub project: ProjectConfig,
    /// Where it is from.
    pub from: KeptIn,
    /// Whether its folder is not there.
    pub missing: bool,
}

/// The projects there are.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct ProjectList {
    /// By name.
    pub projects: Vec<ProjectInfo>,
    /// What can think in them.
    pub brains: Vec<String>,
}

/// A persona.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct PersonaInfo {
    /// Its slug.
    pub slug: String,
    /// Its folder, and whether it is switched on.
    #[serde(flatten)]
    #[ts(flatten)]
    pub persona: PersonaConfig,
    /// Where it is from.
    pub from: KeptIn,
    /// Whether it has lived through something.
    pub has_experience: bool,
    /// Whether it cannot be read.
    pub missing: bool,
    /// Whether its folder is Gangway's own, and goes when the persona is removed.
    #[serde(default)]
    pub own: bool,
}

/// The texts of a persona.
#[derive(Debug, Serialize, ToSchema, TS)]
pub struct PersonaText {
    /// Its slug.
    pub slug: String,
    /// Its folder.
    pub folder: String,
    /// Where it is from; one that stands in the settings cannot be changed here.
    pub from: KeptIn,
    /// `skill.md`: what it can do and how it behaves.
    pub skill: String,
    /// `experience.md`: what it has lived through, if it has.
    pub experience: Option<String>,
    /// Names these texts; goes with a change of them.
    pub version: String,
}

/// A change of the texts of a persona, or the texts of a new one.
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

/// What was written.
#[derive(Debug, Serialize, ToSchema, TS)]
pub struct WrittenPersonaText {
    /// The new version.
    pub version: String,
}

/// The personas there are.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct PersonaList {
    /// By slug.
    pub personas: Vec<PersonaInfo>,
}
