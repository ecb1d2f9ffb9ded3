//! Remote agents: agents that other sites create over REST. Each is a session here and a process in a tmux session of its own,
//! and its chat can be shown in a frame.
//!
//! - [`config`], [`project_name`]: the settings `remote_agents`, `projects`, `personas`
//! - [`routes`]: `/api/remote_agents`, `/api/projects`, `/api/personas`, `/embed`; [`wire`]: what they read and answer
//! - `service`: [`RemoteAgents`], which the modules of the next three lines add to
//! - `create`, `once`, `adopt`, `create_error`: how agents are created
//! - `end`, `recover`, `supervise`: how they end, and are found again after a restart
//! - `hand_over`: continuing in a fresh context
//! - `live_agents`, `live_agent`, `record`, `id`, `tokens`, `state`: the agents, what is stored of them, what they are doing
//! - `socket`, `channel`, `setup`, `folders`: the socket for runners, the channel to each of them, its setup, its files
//! - `runner_agent`: the agent that takes the turns of their sessions by way of the runners
//! - `page_calls`: calls of the tools of the session's open pages, for the runners
//! - `registry`, `persona_text`: projects and personas
//!
//! Depends on the shared crates and on no other protocol.

mod adopt;
mod channel;
pub mod config;
mod create;
mod create_error;
mod end;
mod folders;
mod hand_over;
mod id;
mod idempotency;
mod live_agent;
mod live_agents;
mod page_calls;
mod persona_text;
pub mod project_name;
mod record;
mod recover;
mod registry;
pub mod routes;
mod runner_agent;
mod service;
mod setup;
#[cfg(unix)]
mod socket;
mod state;
mod supervise;
mod tokens;
pub mod wire;

pub use adopt::Adoption;
pub use channel::{RunnerChannel, RunnerStatus};
pub use config::{RemoteConfig, RemoteSettings};
pub use create::{Created, NewAgent};
pub use create_error::CreateError;
pub use end::EndOutcome;
pub use hand_over::HandOverError;
pub use id::AgentId;
pub use live_agent::LiveAgent;
pub use live_agents::LiveAgents;
pub use page_calls::SessionPages;
pub use persona_text::PersonaTexts;
pub use record::{AdoptedRecord, Flags, Phase, Record};
pub use registry::{Registry, RegistryError, StoredIn, read as read_persona};
pub use routes::RemoteState;
pub use runner_agent::{AGENT, RunnerAgent};
pub use service::{RemoteAgents, RunnerSettingsFn, Services, tmux_of};
pub use state::{AgentState, Progress, asked_at};
pub use tokens::{TokenKind, new_token};
