//! Applets: the session channel, and the frames they run in.

mod bad_input;
mod client;
mod consent;
mod files;
mod frame;
mod invoke;
mod state;
