//! The `gangway` command.

use clap::Parser;
use gangway::cli::Cli;

fn main() -> std::process::ExitCode {
    gangway::cli::run(Cli::parse())
}
