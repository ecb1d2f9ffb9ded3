//! Gangway: the two-way bridge between AI agents and web pages.

pub mod applets;
pub mod assets;
pub mod auth;
pub mod cli;
pub mod config;
pub mod data;
pub mod docs;
pub mod doors;
pub mod error;
pub mod extract;
pub mod files;
pub mod health;
pub mod metrics;
pub mod models;
pub mod secrets;
pub mod server;
pub mod socket;
pub mod tools;
pub mod workspace;
