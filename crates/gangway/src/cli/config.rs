//! `gangway config`: an example to start from, and a check with line numbers.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Common, print_json};
use crate::config::{Config, EXAMPLE};

/// Settings.
#[derive(Args)]
pub struct ConfigArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Print every setting with its meaning and default
    Example {
        #[command(flatten)]
        common: Common,
        /// Print the defaults as JSON instead
        #[arg(long)]
        json: bool,
    },
    /// Check a config file and the environment
    Check {
        #[command(flatten)]
        common: Common,
        /// The file [default: config.yaml in the data folder]
        file: Option<PathBuf>,
        /// Print the settings in effect as JSON
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
            print!("{EXAMPLE}");
            Ok(())
        }
        Action::Check { common, file, json } => {
            let file =
                file.map_or_else(|| common.data().map(|data| data.join("config.yaml")), Ok)?;
            let config = Config::read(&file)?.with_environment(|name| std::env::var(name).ok())?;
            config.check()?;
            if json {
                return print_json(&config);
            }
            println!("{} is fine", file.display());
            Ok(())
        }
    }
}
