//! Remote agents: real tmux, a real runner in it, and a model server on the real wire.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

mod adopting;
mod confined;
mod creating;
mod ending;
mod failing;
mod guardrails;
mod hand_over;
mod hostile;
mod limits;
mod once;
mod origins;
mod personas;
mod server;
mod states;
mod tokens;
mod uploads;

use gangway_testing::{
    remote_client::{
        EXPERIENCE, RemoteClient, SKILL, TestAgent, answered, create_request, in_address,
    },
    remote_model as model,
    remote_stock::tmux_sessions,
};
use server::Yard;
