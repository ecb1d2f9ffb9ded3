//! Remote agents: agents that other sites create over REST. Each is a session here and a process in a tmux session of its own,
//! and its chat can be shown in a frame.
//!
//! - [`config`], [`project_name`]: the settings `remote_agents`, `projects`, `personas`
//! - [`routes`]: `/api/remote_agents`, `/api/projects`, `/api/personas`, `/embed`; [`wire`]: what they read and answer
//! - `service`: [`RemoteAgents`], which the modules up to `hand_over` add to
//! - `create`, `once`, `adopt`, `not_made`: how agents are created; `end`, `recover`, `watch`: how they end, and are found again
//! - `hand_over`: continuing in a fresh context
//! - `live`, `member`, `record`, `id`, `tokens`, `state`: the agents there are, what is stored of them and what they do
//! - `socket`, `line`, `equip`, `place`: the socket for runners, the connection to each, its setup and its files
//! - `thinker`: the agent that takes the turns of their sessions
//! - `shelf`, `persona_text`: projects and personas
//!
//! Depends on the shared crates and on no other protocol.

mod adopt;
pub mod config;
mod create;
mod end;
mod equip;
mod hand_over;
mod id;
mod line;
mod live;
mod member;
mod not_made;
mod once;
mod persona_text;
mod place;
pub mod project_name;
mod record;
mod recover;
pub mod routes;
mod service;
mod shelf;
#[cfg(unix)]
mod socket;
mod state;
mod thinker;
mod tokens;
mod watch;
pub mod wire;

pub use adopt::Adoption;
pub use config::{RemoteConfig, RemoteSettings};
pub use create::{Made, Wish};
pub use end::Ended;
pub use hand_over::NotHandedOver;
pub use id::AgentId;
pub use line::{Line, Seen};
pub use live::LiveAgents;
pub use member::Member;
pub use not_made::NotMade;
pub use persona_text::Texts;
pub use record::{AdoptedRecord, Flags, Phase, Record};
pub use routes::RemoteState;
pub use service::{RemoteAgents, RunnerSettingsFn, Services, tmux_of};
pub use shelf::{KeptIn, NotKept, Shelf, read as read_persona};
pub use state::{AgentState, Progress, asked_at};
pub use thinker::{AGENT, Thinker};
pub use tokens::{TokenKind, new_token};
