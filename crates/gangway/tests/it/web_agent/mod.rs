//! Web pages: what they may do, what they get, and what they cannot.

mod asks;
mod browser;
mod budget;
mod chat;
pub mod client;
mod connection;
mod frames;
mod run;
mod servers;
mod text;
mod tools;
