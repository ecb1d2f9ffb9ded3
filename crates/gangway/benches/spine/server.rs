//! The real binary on its core, with a data folder, settings that do not limit a driver, and agents from scripts.

use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::TempDir;

use crate::{
    machine::{Measured, on_both_cores, on_server_core},
    wire::Connection,
};

/// The binary under test: the one that cargo built with this program, or another one that is named.
pub fn binary() -> String {
    let named = std::env::var("GANGWAY_BENCH_BINARY");
    named.unwrap_or_else(|_| {
        option_env!("CARGO_BIN_EXE_gangway")
            .unwrap_or_default()
            .to_owned()
    })
}

/// A running `gangway serve`.
pub struct Gangway {
    /// Its process.
    pub process: Measured,
    /// Kept until the process is gone.
    folder: TempDir,
}

impl Gangway {
    /// On a new folder, with this script as the default agent.
    pub fn scripted(script: &str) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        prepare(folder.path(), script)?;
        let process = Self::on(folder.path(), None)?;
        Ok(Self { process, folder })
    }

    /// On a new folder, with the built-in agent on this model server.
    pub fn with_model(model: std::net::SocketAddr) -> anyhow::Result<Self> {
        Self::new("", Some(model))
    }

    /// On a new folder, with these settings below the limits.
    pub fn with_settings(settings: &str) -> anyhow::Result<Self> {
        Self::new(settings, None)
    }

    /// On a new folder, with these settings and this model server.
    pub fn with_both(settings: &str, model: std::net::SocketAddr) -> anyhow::Result<Self> {
        Self::new(settings, Some(model))
    }

    fn new(settings: &str, model: Option<std::net::SocketAddr>) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::write(
            folder.path().join("config.yaml"),
            format!("{LIMITS}{settings}"),
        )?;
        let process = Self::on(folder.path(), model)?;
        Ok(Self { process, folder })
    }

    /// What lets a command of the same person in, from the note beside the data.
    pub fn local_token(&self) -> anyhow::Result<String> {
        let note = std::fs::read(self.folder.path().join("server.lock"))?;
        let note: serde_json::Value = serde_json::from_slice(&note)?;
        let token = note["token"].as_str().context("no token in the note")?;
        Ok(token.to_owned())
    }

    /// The same, with both cores: for what starts processes of its own.
    pub fn on_both_cores(settings: &str, model: std::net::SocketAddr) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let config = format!("{LIMITS}{settings}");
        std::fs::write(folder.path().join("config.yaml"), config)?;
        let process = Self::with(on_both_cores(&binary()), folder.path(), Some(model))?;
        Ok(Self { process, folder })
    }

    /// Where its data is.
    pub fn data(&self) -> &Path {
        self.folder.path()
    }

    /// On a folder that the caller prepared and keeps.
    pub fn on(data: &Path, model: Option<std::net::SocketAddr>) -> anyhow::Result<Measured> {
        Self::with(on_server_core(&binary()), data, model)
    }

    fn with(
        mut command: std::process::Command,
        data: &Path,
        model: Option<std::net::SocketAddr>,
    ) -> anyhow::Result<Measured> {
        for (name, _) in std::env::vars() {
            if name.starts_with("GANGWAY_") || name.starts_with("OPENAI_") {
                command.env_remove(name);
            }
        }
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--log-level", "warn"])
            .env("GANGWAY_DATA", data);
        if let Some(model) = model {
            command
                .env("OPENAI_BASE_URL", format!("http://{model}/v1"))
                .env("OPENAI_MODEL", "fake");
        }
        Measured::start(command)
    }

    /// A connection to it.
    pub async fn connect(&self) -> anyhow::Result<Connection> {
        Connection::open(self.process.address).await
    }
}

/// A driver shows no key, as the bare baselines ask for none, and is one address that asks for far more than any person; heartbeats would be counted as deliveries, and a
/// stalled reader that is cut off would cost nothing.
pub const LIMITS: &str = "authentication: open-to-this-machine
limits:
  requests_per_second: 10000000
  request_burst: 10000000
  connections: 16000
  heartbeat_seconds: 3600
  stalled_seconds: 3600
";

/// Writes settings and a script into a data folder.
pub fn prepare(folder: &Path, script: &str) -> anyhow::Result<()> {
    std::fs::write(folder.join("script.yaml"), script)?;
    let config =
        format!("{LIMITS}default_agent: scripted\nagents:\n  scripted:\n    script: script.yaml\n");
    std::fs::write(folder.join("config.yaml"), config)?;
    Ok(())
}

/// Makes a session; its id.
pub async fn new_session(connection: &mut Connection) -> anyhow::Result<String> {
    let (status, body) = connection.request("POST", "/api/sessions", "{}").await?;
    let answer: serde_json::Value = serde_json::from_slice(&body)?;
    let id = answer["sessionId"].as_str();
    id.map(str::to_owned)
        .with_context(|| format!("{status}: {answer}"))
}

/// Says something in a session.
pub async fn say(connection: &mut Connection, session: &str, prompt: &str) -> anyhow::Result<()> {
    let path = format!("/api/sessions/{session}/messages");
    let body = format!(r#"{{"prompt":"{prompt}"}}"#);
    let (status, body) = connection.request("POST", &path, &body).await?;
    anyhow::ensure!(
        status == 202,
        "{status}: {}",
        String::from_utf8_lossy(&body)
    );
    Ok(())
}

/// Where the feed of a session is.
pub fn feed(session: &str) -> String {
    format!("/api/sessions/{session}/events?since=0")
}

/// The size of the binary in bytes.
pub fn binary_size() -> anyhow::Result<u64> {
    Ok(PathBuf::from(binary()).metadata()?.len())
}
