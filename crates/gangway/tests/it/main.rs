//! Everything that is tested from outside: a folder or file for each door, and one for what holds everywhere.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod apps;
mod auth;
mod bridge;
mod browser;
mod cinema;
mod cli;
mod clock;
mod health;
mod imports;
mod log;
mod login;
mod mcp_door;
mod models;
mod models_api;
mod openai;
mod pages;
mod promises;
mod providers;
mod relay;
mod relay_tools;
mod remote;
mod schema;
mod scopes;
mod sessions;
mod storage;
mod support;
mod tidy;
mod tools;
mod web_agent;
mod weblets;
