//! Gangway: the two-way bridge between AI agents and web pages.

pub mod applets;
pub mod apps;
pub mod assets;
pub mod auth;
mod cache;
pub mod cli;
pub mod config;
pub mod data;
pub mod docs;
pub mod doors;
pub mod error;
pub mod extract;
pub mod files;
pub mod health;
pub mod launches;
pub mod metrics;
pub mod models;
pub mod pace;
pub mod permissions;
pub mod plain_words;
pub mod secrets;
pub mod server;
pub mod sites;
pub mod socket;
pub mod tools;
pub mod workspace;
