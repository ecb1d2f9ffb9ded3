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
mod demo;
mod health;
mod imports;
mod log;
mod login;
mod mcp;
mod openai;
mod pages;
mod promises;
mod providers;
mod relay;
mod remote;
mod schema;
mod scopes;
mod sessions;
mod storage;
mod support;
mod tidy;
mod tools;
mod webagent;
mod weblets;
