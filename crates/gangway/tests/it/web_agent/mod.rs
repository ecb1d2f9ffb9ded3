//! Web pages: what they may do, what they get, and what they cannot.

mod chat;
pub mod client;
mod connection;
mod run;
mod servers;
mod text;
mod tools;
