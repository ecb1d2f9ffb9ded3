//! `gangway agents`, `gangway project`, `gangway persona`: remote agents, their projects and personas.

mod adopt;
pub mod agents;
pub mod persona;
pub mod project;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use gangway_client::ServerClient;

use super::{Common, server::running};

#[derive(Args)]
struct Output {
    #[command(flatten)]
    common: Common,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The running server, which alone knows the agents.
fn agents_server(common: &Common) -> anyhow::Result<ServerClient> {
    running(common)?
        .context("Gangway is not running; start it to reconnect to running agents: gangway serve")
}

/// The canonical path.
fn absolute(folder: &Path) -> anyhow::Result<PathBuf> {
    folder
        .canonicalize()
        .with_context(|| format!("reading the folder {}", folder.display()))
}
