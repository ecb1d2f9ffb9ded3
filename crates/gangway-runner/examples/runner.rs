//! A runner without models and tools of its own, for ACP agents and terminal programs.

use std::path::Path;

use gangway_runner::{
    Pane, RunnerError,
    builtin::{BuiltinFactory, BuiltinParts},
    run, typing,
    wire::Setup,
};

/// No parts for the built-in loop.
struct Nothing;

impl BuiltinFactory for Nothing {
    fn parts(&self, _: &Setup) -> Result<BuiltinParts, String> {
        Err("this runner has no built-in loop".to_owned())
    }
}

#[tokio::main]
async fn main() -> Result<(), RunnerError> {
    let ticket = std::env::args_os().nth(1).unwrap_or_default();
    let pane = Pane::on(std::io::stdout());
    let typed = typing::lines(pane.clone());
    let stop = typing::told_to_end(pane.clone());
    run(Path::new(&ticket), &Nothing, pane, typed, stop).await
}
