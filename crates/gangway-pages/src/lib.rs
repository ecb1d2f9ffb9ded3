//! The open pages of sessions: apps, applets, sites and hosts on the relay, and the tools that they offer to agents.
//!
//! - `page`: an open page, and what its protocol provides: tools, calls, state, events
//! - `registry`: all open pages, and the names of their tool servers
//! - `offer`: tools as pages describe them, within limits
//! - `registered`, `calls`: pages that register their tools here, and the calls that wait for them
//! - `sockets`, `mailbox`: of those, pages with a socket of their own, which may reconnect
//! - `events`: events of a page, from the log of its session
//! - `notes`: what happens with pages, as entries of the logs of their sessions
//! - `source`: the tools of all pages for every agent
//! - `reader`: tools for every agent to list pages, read their state and wait for their events
//!
//! Depends on core and the schemas of tools.

mod calls;
mod events;
mod mailbox;
mod notes;
mod offer;
mod page;
mod reader;
mod registered;
mod registry;
mod sockets;
mod source;

pub use calls::{PageCall, PageLink};
pub use events::{EVENTS, from_log};
pub use mailbox::ToPage;
pub use notes::Subject;
pub use offer::{DEEPEST, NAME, OfferedTool, PageTool, RefusedTool, TOOLS, ToolProblem, is_deeper};
pub use page::{ListedTool, NewPage, Page, PageChannel, PageEvents};
pub use reader::{PageReader, is_reader, read_pages, reader_tools};
pub use registered::{Accepted, PageView, Registered};
pub use registry::{OpenPage, PREFIX, Pages, TooManyPages};
pub use sockets::{Connected, GRACE, SocketPages};
pub use source::PageTools;
