//! `window.ai` and `window.agent`: access of web pages to the user's models, tools and agents, and the open pages.
//!
//! - [`permissions`]: grants of origins, the queue of requests, budgets, the audit log
//! - `sites`, `visit`: the open pages; `outbox`, `message`: messages to them; `frames`, `locks`: which of them may ask
//! - `asks`, `tools`, `own_tools`, `servers`, `register`: permission requests, tools, MCP servers of sites; `lanes`,
//!   `limits`: limits
//! - `service`: needs sessions: `text`, `run`, `chat`, and `stream`, which follows the session's log for the page, and
//!   `reader`, which converts its events
//! - `work`, `metered`: the tools and models of a page's session, determined before each turn
//! - [`browser`]: tools for the active tab, carried out by the extension
//! - [`routes`]: all routes; `socket`: `/ws/web-agent`, `/ws/browser`; `calls`: the calls of pages by method
//! - [`wire`]: messages between the broker of a page and the server; `script`: the script that pages include
//!
//! Depends on core, pages, http, mcp, agents, models, providers, workspaces and assets, and on no other protocol.

mod asks;
mod broker_tokens;
pub mod browser;
mod calls;
mod chat;
mod error;
mod frames;
mod lanes;
mod limits;
mod message;
mod metered;
mod outbox;
mod own_tools;
pub mod permissions;
mod reader;
mod register;
pub mod routes;
mod run;
mod script;
mod servers;
mod service;
mod sites;
mod socket;
mod stream;
mod text;

mod tools;
mod visit;
pub mod wire;
mod work;

pub use chat::{ChatOptions, PanelInfo, PanelStyle};
pub use error::SiteError;
pub use frames::Embedding;
pub use message::{Numbered, SiteServerMessage};
pub use register::Registration;
pub use run::RunOptions;
pub use script::script_for_apps;
pub use service::WebAgent;
pub use sites::{AGENT, SOCKET, Sites};
pub use stream::Stream;
pub use text::TextOptions;
pub use visit::Visit;
