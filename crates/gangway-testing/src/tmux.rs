//! A tmux server for tests.

use std::{
    path::PathBuf,
    process::{Command, Output},
};

use tempfile::TempDir;

/// A tmux server on its own socket, killed on drop.
pub struct Tmux {
    folder: TempDir,
}

impl Tmux {
    /// Not started yet.
    #[must_use]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    /// Its socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("tmux")
    }

    /// Runs a tmux command to its end.
    pub fn call(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        command
            .arg("-S")
            .arg(self.socket())
            .args(["-f", "/dev/null"]);
        command.args(arguments).env_remove("TMUX");
        command.env_remove("TMUX_PANE").output().unwrap()
    }

    /// Runs a command with these variables in a session called `agent`.
    pub fn run(&self, variables: &[&str], command: &[&str]) {
        let mut arguments = vec!["new-session", "-d", "-s", "agent", "-x", "100", "-y", "30"];
        arguments.extend(variables.iter().flat_map(|variable| ["-e", variable]));
        arguments.extend(command);
        let made = self.call(&arguments);
        assert!(made.status.success(), "{made:?}");
    }

    /// The contents of the agent's pane.
    #[must_use]
    pub fn pane(&self) -> String {
        let shown = self.call(&["capture-pane", "-p", "-J", "-S", "-", "-t", "agent:0"]);
        String::from_utf8_lossy(&shown.stdout).into_owned()
    }

    /// Whether the session exists.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.call(&["has-session", "-t", "agent"]).status.success()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.call(&["kill-server"]);
    }
}
