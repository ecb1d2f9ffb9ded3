//! Sessions and the folders they work in.
//!
//! - `folders`: where workspaces are, and which folders may be one
//! - `sessions`: creates and removes a session together with its folder
//!
//! Depends on gangway-core and gangway-files alone.

mod folders;
mod sessions;

pub use folders::Workspaces;
pub use sessions::Sessions;
