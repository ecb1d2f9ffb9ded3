//! The real binary as a process of its own.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use gangway_testing::server::Client;
use serde_json::Value;

use super::{client, client::started};

/// A running `gangway serve`, killed when dropped.
pub struct Gangway {
    pub url: String,
    pub child: Child,
    /// The data folder's token.
    pub token: String,
    /// A client with that token.
    pub http: reqwest::Client,
}

impl Gangway {
    /// The binary with a clean environment.
    pub fn command(data: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gangway"));
        for (name, _) in std::env::vars() {
            if ["GANGWAY_", "OPENAI_", "ANTHROPIC_", "OLLAMA_"]
                .iter()
                .any(|prefix| name.starts_with(prefix))
            {
                command.env_remove(name);
            }
        }
        command.env("GANGWAY_DATA", data);
        command
    }

    /// Runs a command to its end.
    pub fn run(data: &Path, arguments: &[&str]) -> Output {
        Self::command(data).args(arguments).output().unwrap()
    }

    /// Starts a server and waits for the line that names its address.
    pub fn serve(data: &Path, arguments: &[&str]) -> Self {
        let mut command = Self::command(data);
        command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments);
        Self::spawn(command)
    }

    /// Starts a server in a way of the test's own.
    pub fn spawn(command: Command) -> Self {
        Self::spawn_logging(command, Stdio::null())
    }

    /// The same, with the log in a place of the test's own.
    pub fn spawn_logging(mut command: Command, log: impl Into<Stdio>) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line
            .split_whitespace()
            .find(|word| word.starts_with("http://"));
        let url = url
            .unwrap_or_else(|| panic!("no address in {line:?}"))
            .to_owned();
        // An app that runs alone has neither data nor a token.
        let data = line
            .split_once("(data in ")
            .map(|(_, data)| data.trim_end());
        // It may have file systems of its own.
        let root = format!("/proc/{}/root", child.id());
        let note = data.map(|data| format!("{root}{}/server.lock", data.trim_end_matches(')')));
        let note = note.map_or(Vec::new(), |note| std::fs::read(note).unwrap());
        let note: Value = serde_json::from_slice(&note).unwrap_or_default();
        let token = note["token"].as_str().unwrap_or_default().to_owned();
        started(&token);
        Self {
            url,
            child,
            http: client(&token),
            token,
        }
    }

    pub fn client(&self) -> Client {
        let address = self.url.trim_start_matches("http://").trim_end_matches('/');
        Client {
            address: address.parse().unwrap(),
            http: self.http.clone(),
        }
    }

    /// Ends it as a crash would.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end, as ctrl-c or a service manager would.
    pub fn terminate(&self) {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    }
}

impl Drop for Gangway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
