//! A tmux of the test's own.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use tempfile::TempDir;

/// A server of tmux on a socket that nobody else has, killed when dropped.
pub struct Tmux {
    folder: TempDir,
}

impl Tmux {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("tmux")
    }

    pub fn call(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        command
            .arg("-S")
            .arg(self.socket())
            .args(["-f", "/dev/null"]);
        command.args(arguments).env_remove("TMUX");
        command.env_remove("TMUX_PANE").output().unwrap()
    }

    /// Starts the agent of a ticket in a session of its own.
    pub fn run(&self, ticket: &Path, data: &Path) {
        let program = env!("CARGO_BIN_EXE_gangway");
        let data = format!("GANGWAY_DATA={}", data.display());
        let ticket = ticket.to_str().unwrap();
        let made = self.call(&[
            "new-session",
            "-d",
            "-s",
            "agent",
            "-x",
            "100",
            "-y",
            "30",
            "-e",
            &data,
            "-e",
            "TOP_SECRET=1",
            program,
            "agent",
            "--ticket",
            ticket,
        ]);
        assert!(made.status.success(), "{made:?}");
    }

    /// What the agent's own pane shows.
    pub fn pane(&self) -> String {
        let shown = self.call(&["capture-pane", "-p", "-J", "-S", "-", "-t", "agent:0"]);
        String::from_utf8_lossy(&shown.stdout).into_owned()
    }

    /// Whether the session is still there.
    pub fn is_there(&self) -> bool {
        self.call(&["has-session", "-t", "agent"]).status.success()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.call(&["kill-server"]);
    }
}
