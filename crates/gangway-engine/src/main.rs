//! `gangway-engine`: runs models for the server that starts it.

use std::process::ExitCode;

fn main() -> ExitCode {
    gangway_engine::serve::run()
}
