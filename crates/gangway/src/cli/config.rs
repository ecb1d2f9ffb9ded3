//! `gangway config`: prints an example, and validates a config file with line numbers.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{
    Common, print_json,
    say::{self, say},
};
use crate::config::{Config, EXAMPLE};

#[derive(Args)]
pub struct ConfigArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Print an example config file with every setting and its default
    Example {
        #[command(flatten)]
        common: Common,
        /// Print the defaults as JSON instead
        #[arg(long)]
        json: bool,
    },
    /// Validate a config file and the environment variables
    Check {
        #[command(flatten)]
        common: Common,
        /// The file [default: config.yaml in the data folder]
        file: Option<PathBuf>,
        /// Print the effective settings as JSON
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(args: ConfigArgs) -> anyhow::Result<()> {
    match args.action {
        Action::Example {
            common: _,
            json: true,
        } => print_json(&Config::default()),
        Action::Example {
            common: _,
            json: false,
        } => {
            say::text(EXAMPLE);
            Ok(())
        }
        Action::Check { common, file, json } => {
            let usual = common.data()?.join("config.yaml");
            // The default file is optional; a named one must exist.
            let file = file.or_else(|| usual.exists().then_some(usual));
            let config = match &file {
                Some(file) => Config::read(file)?,
                None => Config::default(),
            };
            let config = config.with_environment(|name| std::env::var(name).ok())?;
            config.check()?;
            if json {
                return print_json(&config);
            }
            match file {
                Some(file) => say!("{} is valid", file.display()),
                None => say!(
                    "There is no config.yaml in the data folder; defaults and environment variables are valid"
                ),
            }
            Ok(())
        }
    }
}
