//! Client of a local Gangway server, for commands and for the bridge. Depends on `gangway-http` for the error envelope,
//! and on no protocol.
//!
//! - `data`: the data folder, its lock, and the note about its server
//! - `server`: requests to that server
//! - `encode`: names in paths and headers

pub mod data;
pub mod encode;
mod server;

pub use self::{
    data::{DataError, DataFolder, ServerNote},
    server::{ErrorResponse, ServerClient, local_http},
};
