//! A runner in the test's own process.

use gangway_runner::{Pane, RunnerError, builtin::BuiltinFactory, run};
use gangway_testing::runner::Server;
use tokio::{sync::mpsc, task::JoinHandle};

/// A runner and the input of its pane.
pub struct Running {
    pub task: JoinHandle<Result<(), RunnerError>>,
    pub typed: mpsc::Sender<String>,
}

impl Running {
    /// Runs the agent of a server's ticket.
    pub fn start(server: &Server, workshop: impl BuiltinFactory + 'static) -> Self {
        let ticket = server.ticket.clone();
        let (typed, lines) = mpsc::channel(8);
        let task = tokio::spawn(async move {
            let never = std::future::pending();
            run(&ticket, &workshop, Pane::none(), lines, never).await
        });
        Self { task, typed }
    }
}
