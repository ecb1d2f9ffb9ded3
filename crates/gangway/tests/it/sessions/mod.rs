//! The sessions door.

mod applet_clients;
mod bad_input;
mod feed;
mod fold;
mod history;
mod manage;
mod messages;
mod restart;
mod stream;
