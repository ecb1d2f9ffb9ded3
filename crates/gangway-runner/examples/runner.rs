//! A runner that has neither models nor tools of its own, for ACP agents and programs in terminals.

use std::path::Path;

use gangway_runner::{
    Pane, RunnerError,
    builtin::{Parts, Workshop},
    run, typing,
    wire::Setup,
};

/// Nothing that the built-in loop could work with.
struct Nothing;

impl Workshop for Nothing {
    fn parts(&self, _: &Setup) -> Result<Parts, String> {
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
