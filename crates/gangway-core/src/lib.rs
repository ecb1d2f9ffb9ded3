//! Core of Gangway: sessions, their event logs, the agents that take turns, and the store.
#![warn(missing_docs)]

pub mod agent;
pub mod app;
pub mod approval;
pub mod asks;
pub mod atomic_file;
pub mod command;
pub mod consent;
pub mod conversation;
mod draft;
pub mod error;
pub mod event;
pub mod grant;
mod handle;
pub mod hub;
pub mod id;
pub mod log;
mod notes;
pub mod origin;
pub mod outbox;
mod page;
mod recovery;
pub mod sanitize;
pub mod secret;
pub mod session;
pub mod state;
pub mod store;
mod tab;
pub mod text;
pub mod tool;
mod tool_call;
mod tool_source;
pub mod turn;
mod worker;

pub use agent::{Agent, AgentError, Agents, Readiness};
pub use app::{AppAgent, AppEvent, AppEventKind, AppRefusal, Launch, LaunchPass};
pub use approval::{Approval, Choice};
pub use asks::{
    Actor, Ask, AskBody, AskDecision, AskEntry, AskError, AskId, AskOutcome, AskedFor, Asker, Asks,
    Lane, NewAsk, OpenAsk, Reply,
};
pub use command::{Command, Receipt, Turns, WhenBusy};
pub use consent::{AwaitingConsent, ConsentOutcome, Consents};
pub use error::{Damage, Error, Result};
pub use event::{Citation, Consent, Event, Logged, Outcome, Source, Usage};
pub use grant::{Grant, GrantDuration, Scope};
pub use handle::HubHandle;
pub use hub::{Hub, Limits, NewSession};
pub use id::{AppName, CallId, LaunchId, MessageId, QuestionId, SessionId, Slug, TurnId};
pub use log::{Log, Subscription, SubscriptionEnd};
pub use notes::{NoteWriter, Notes};
pub use origin::Origin;
pub use outbox::{Backlog, Outbox};
pub use page::{PageEntry, PageId, PageKind};
pub use session::{Profile, Session};
pub use state::AppletState;
pub use store::Store;
pub use tab::{NoTabId, TabId};
pub use tool::{OWN, Tool, ToolError, ToolName, Toolbox};
pub use tool_call::{
    Caller, last_used_session, own_tool, parse_arguments, session_meant, tool_error,
};
pub use tool_source::{ToApprove, ToolSource};
pub use turn::Turn;
