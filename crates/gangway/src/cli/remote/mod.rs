//! `gangway agents`, `gangway project`, `gangway persona`: the agents of other sites, and what they are made of.

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

/// The running server: agents are nowhere else.
fn agents_server(common: &Common) -> anyhow::Result<ServerClient> {
    running(common)?.context(
        "Gangway is not running; it finds agents that still run when it starts: gangway serve",
    )
}

/// A folder as it is found from anywhere.
fn whole(folder: &Path) -> anyhow::Result<PathBuf> {
    folder
        .canonicalize()
        .with_context(|| format!("looking at the folder {}", folder.display()))
}
