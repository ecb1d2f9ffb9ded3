//! `gangway bridge`: the native messaging host of the browser extension, and its registration with browsers.

use std::{ffi::OsString, process::ExitCode};

use anyhow::Context;
use clap::{Args, Subcommand};
use gangway_bridge::{
    Host,
    install::{self, BrowserArgs},
};

use super::{
    Common, block_on, program, say,
    serve::{self, ServeArgs},
};
use crate::config::Config;

/// Exit code when started for another extension.
const UNKNOWN_CALLER: u8 = 2;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BridgeArgs {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    common: Common,
    /// Passed by the browser: the extension that starts this
    #[arg(hide = true, allow_hyphen_values = true, trailing_var_arg = true)]
    caller: Vec<OsString>,
}

#[derive(Subcommand)]
enum Action {
    /// Register the native messaging host with browsers
    Install(BridgeInstallArgs),
    /// Unregister it
    Uninstall(BridgeInstallArgs),
    /// Check the registration in browsers
    Status(BridgeInstallArgs),
}

#[derive(Args)]
struct BridgeInstallArgs {
    #[command(flatten)]
    browsers: BrowserArgs,
    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: BridgeArgs) -> anyhow::Result<ExitCode> {
    match args.action {
        None => serve(&args.common, &args.caller),
        Some(Action::Install(at)) => install::install(&at.browsers, &at.common.data()?),
        Some(Action::Uninstall(at)) => install::uninstall(&at.browsers, &at.common.data()?),
        Some(Action::Status(at)) => install::status(&at.browsers, &at.common.data()?),
    }
}

fn serve(common: &Common, caller: &[OsString]) -> anyhow::Result<ExitCode> {
    if !gangway_bridge::is_own_extension(caller) {
        say::complain!("gangway: this native messaging host serves only Gangway's own extension");
        return Ok(ExitCode::from(UNKNOWN_CALLER));
    }
    let (data, program) = (
        common.data()?,
        program().context("cannot find the path of this program")?,
    );
    let settings = {
        let (args, data) = (ServeArgs::alone(common.clone()), data.clone());
        move || args.settings(&data)
    };
    // Invalid settings are reported to the user over the bridge.
    let config = settings().unwrap_or_default();
    let host = Host::take(data, program, move || settings().map(|_| ()))?;
    start_log(config);
    block_on(async { host.serve(serve::stop_signal()?).await })
}

/// Browsers show stderr on their console, so only warnings are logged by default.
fn start_log(mut config: Config) {
    config.log.level = std::env::var("RUST_LOG").unwrap_or_else(|_| "warn".to_owned());
    if serve::start_log(&config).is_err() {
        config.log.level = "warn".to_owned();
        let _ = serve::start_log(&config);
    }
}
