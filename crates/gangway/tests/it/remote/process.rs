//! A server as a process of its own, which can be killed.

use std::{
    ops::Deref,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{RemoteClient, Stock, Swept, model::Model};
use crate::support::Gangway;

/// A data folder with a project `shop` and a persona `clerk`, and the process that serves it, if one does.
pub struct Dock {
    pub server: Option<Gangway>,
    shop: TempDir,
    _swept: Swept,
    pub folder: TempDir,
    pub model: Model,
    model_url: String,
    /// Where the process looks for programs.
    pub path: Option<PathBuf>,
    desk: RemoteClient,
}

impl Deref for Dock {
    type Target = RemoteClient;

    fn deref(&self) -> &RemoteClient {
        &self.desk
    }
}

impl Dock {
    /// With these settings of remote agents.
    pub async fn new(model: Model, remote: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let shop = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("clerk")).unwrap();
        std::fs::write(folder.path().join("clerk/skill.md"), super::SKILL).unwrap();
        let config = json!({
            "limits": { "requests_per_second": 100_000, "request_burst": 100_000 },
            "models": { "detect": false, "retries": 0 },
            "tools": { "catalog_url": "off" },
            "projects": { "shop": { "folder": shop.path() } },
            "personas": { "clerk": { "folder": "clerk" } },
            "remote_agents": remote,
        });
        std::fs::write(folder.path().join("config.yaml"), config.to_string()).unwrap();
        Self {
            server: None,
            shop,
            _swept: Swept(folder.path().to_owned()),
            folder,
            model_url: model.start().await,
            model,
            path: None,
            desk: RemoteClient::at("", ""),
        }
    }

    /// The folder of the project.
    pub fn shop(&self) -> &Path {
        self.shop.path()
    }

    /// Sets one of the settings.
    pub fn set(&self, name: &str, value: Value) {
        let file = self.folder.path().join("config.yaml");
        let mut config: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        config[name] = value;
        std::fs::write(file, config.to_string()).unwrap();
    }

    pub async fn start(&mut self) {
        let mut command = Gangway::command(self.folder.path());
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--log-level", "trace"])
            .env("OPENAI_BASE_URL", &self.model_url)
            .env("OPENAI_MODEL", "test-model");
        if let Some(path) = &self.path {
            command.env("PATH", path);
        }
        let log = self.folder.path().join("log");
        let log = std::fs::File::options().create(true).append(true).open(log);
        let server = Gangway::spawn_logging(command, log.unwrap());
        self.desk = RemoteClient::at(&server.url, &server.token);
        self.server = Some(server);
    }

    /// Ends it as a crash would, and starts another.
    pub async fn crash(&mut self) {
        self.server.take().unwrap().kill();
        self.start().await;
    }

    pub fn stock(&self) -> Stock {
        Stock::of(self.folder.path())
    }
}
