//! Sessions and their working folders.
//!
//! - `folders`: the location of workspaces, and which folders are allowed
//! - `sessions`: creates and removes a session together with its folder
//!
//! Depends on gangway-core and gangway-files alone.

mod folders;
mod sessions;

pub use folders::Workspaces;
pub use sessions::Sessions;
