//! `gangway bridge`: what the browser extension talks to, and how browsers find it.

mod browsers;
mod install;
mod manifest;
mod own;
mod pipe;
mod registry;
mod serve;
mod starter;

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use browsers::Browser;
use clap::{Args, Subcommand};

use super::Common;

/// The bridge.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BridgeArgs {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    common: Common,
    /// For whom a browser starts this
    #[arg(hide = true, allow_hyphen_values = true, trailing_var_arg = true)]
    caller: Vec<OsString>,
}

#[derive(Subcommand)]
enum Action {
    /// Tell browsers where the bridge is
    Install(Where),
    /// Take that back
    Uninstall(Where),
    /// Check what browsers were told
    Status(Where),
}

/// Which browsers are meant.
#[derive(Args)]
pub(super) struct Where {
    /// A browser; can be given more than once [default: those that are there]
    #[arg(long, value_enum, value_name = "NAME")]
    browser: Vec<Browser>,
    /// A folder for the manifest, where a browser has a profile folder of its own
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: BridgeArgs) -> anyhow::Result<ExitCode> {
    match args.action {
        None => serve::run(&args.common, &args.caller),
        Some(Action::Install(place)) => install::install(&place),
        Some(Action::Uninstall(place)) => install::uninstall(&place),
        Some(Action::Status(place)) => install::status(&place),
    }
}
