//! Gangway: the two-way bridge between AI agents and web pages.

pub mod backup;
pub mod cli;
pub mod config;
pub mod docs;
pub mod doors;
pub mod health;
pub mod server;
