//! MCP client: connections, processes, tool names.
//!
//! A [`Host`] keeps any number of servers running, each a child process or a URL, and offers their tools as
//! `server/tool`. Arguments and results never reach the process log; each server has its own log, read with
//! [`Host::logs`].

mod address;
mod ask;
mod call;
pub mod catalog;
mod connect;
mod content;
mod effect;
pub mod guard;
mod handler;
mod host;
mod http;
mod journal;
mod keep;
mod lanes;
mod listing;
mod live;
mod login;
mod names;
mod oauth;
mod offers;
mod ordered;
mod outbound;
pub mod package;
mod pipe;
mod process;
pub mod read_result;
mod readiness;
mod remote;
mod scan;
mod server;
mod spec;
mod sse;
mod status;

pub use address::is_public;
pub use ask::{Asker, ElicitationAnswer, ElicitationRequest};
pub use host::{Host, Progress, ProgressSink};
pub use journal::{JournalLine, Source};
pub use keep::ResultPart;
pub use listing::ListedTool;
pub use names::ModelNames;
pub use oauth::TokenStore;
pub use outbound::{Resolve, SystemResolver, UrlError, for_page};
pub use process::environment;

pub use spec::{BadServerId, LoginClient, ServerId, ServerSpec, Settings, Transport, UrlPolicy};
pub use status::{ServerDescription, State, Status};
