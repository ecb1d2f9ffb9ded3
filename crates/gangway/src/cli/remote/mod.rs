//! `gangway agents`, `gangway project`, `gangway persona`: the agents of other sites, and what they are made of.

mod adopt;
pub mod agents;
mod desk;
pub mod persona;
pub mod project;

use clap::Args;

use super::Common;

#[derive(Args)]
struct Output {
    #[command(flatten)]
    common: Common,
    /// Print JSON
    #[arg(long)]
    json: bool,
}
