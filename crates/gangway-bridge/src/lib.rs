//! The native messaging host of the browser extension: passes its messages on to a Gangway, and answers back. Depends on the
//! client of a data folder, and on no protocol: the server is asked over its own REST routes and WebSockets.
//!
//! - `serve`: the host as a browser starts it, on the server of the data folder or on one that it starts (`start`)
//! - `pipe`, `frame`, `message`: stdin and stdout, framing, and the envelope of every message
//! - `bridge`: what was asked, and who answers; `requests` has what is open, `out` what is to be written
//! - `named`, `fields`: the messages by name, and what they are in REST; `work` and `streams` answer what needs more
//! - `pages`: web pages, each with a connection to the server of its own
//! - `server`, `attach`, `status`: the server, when it starts and ends, and how the extension is notified
//! - `install`: manifests for browsers

mod attach;
mod bridge;
mod fields;
pub mod frame;
pub mod install;
pub mod message;
mod named;
mod out;
mod pages;
mod pipe;
mod problem;
mod requests;
mod serve;
mod server;
mod start;
mod status;
mod streams;
pub mod wire;
mod work;

pub use self::{
    bridge::PROTOCOL,
    named::NAMES,
    problem::Problem,
    serve::{Host, is_own_extension},
    server::ServerOrigin,
};
