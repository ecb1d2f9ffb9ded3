//! Remote agents from outside: real tmux, the real program in it, and a model server on the real wire.

mod adopting;
mod brains;
mod by_hand;
mod confined;
mod crash;
mod creating;
mod early;
mod ending;
mod failing;
mod guardrails;
mod hand_over;
mod hostile;
mod limits;
mod model;
mod once;
mod origins;
mod personas;
mod process;
mod runner;
mod states;
mod survival;
mod tokens;
mod uploads;

use std::{
    collections::BTreeMap,
    ops::Deref,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use gangway::config::Config;
use gangway_providers::ModelAccess;
use gangway_remote::config::{PersonaConfig, ProjectConfig};
use model::Model;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{LOCAL_TOKEN, SseReader, TestServer, client, eventually};

/// What the persona of the tests can do.
const SKILL: &str = "You are the clerk of a small shop.";

/// What it has lived through.
const EXPERIENCE: &str = "Once a parrot came in.";

/// Ends what a test left in tmux, and sees that nothing of it goes on.
pub struct Swept(PathBuf);

impl Drop for Swept {
    fn drop(&mut self) {
        let socket = self.0.join("agents/tmux.sock");
        if socket.exists() {
            let mut end = Command::new("tmux");
            let _ = end.arg("-S").arg(socket).arg("kill-server").output();
        }
        for _ in 0..250 {
            if processes(&self.0).is_empty() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let left = processes(&self.0);
        assert!(std::thread::panicking(), "this goes on: {left:#?}");
    }
}

/// The command lines of all processes that name this folder.
pub fn processes(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(folder)).collect()
}

/// The tmux sessions of this data folder.
pub fn tmux_sessions(data: &Path) -> Vec<String> {
    let mut list = Command::new("tmux");
    list.arg("-S").arg(data.join("agents/tmux.sock"));
    let listed = list.args(["list-sessions", "-F", "#{session_name}"]);
    let listed = listed.output().unwrap().stdout;
    let names = String::from_utf8(listed).unwrap();
    names.lines().map(str::to_owned).collect()
}

/// Everything there is of agents: rows of each table, files, tmux sessions, processes.
#[derive(Debug, PartialEq, Eq)]
pub struct Stock {
    rows: BTreeMap<String, i64>,
    files: Vec<String>,
    tmux: Vec<String>,
    processes: Vec<String>,
}

impl Stock {
    pub fn tmux(&self) -> &[String] {
        &self.tmux
    }

    pub fn of(data: &Path) -> Self {
        let store = rusqlite::Connection::open(data.join("gangway.db")).unwrap();
        let named = "SELECT name FROM sqlite_master WHERE type = 'table'";
        let mut named = store.prepare(named).unwrap();
        let tables = named.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let rows = tables.map(|table| {
            let table = table.unwrap();
            let count = format!("SELECT count(*) FROM \"{table}\"");
            let count = store.query_row(&count, [], |row| row.get(0)).unwrap();
            (table, count)
        });
        let entries = std::fs::read_dir(data.join("agents")).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut files: Vec<_> = names.filter(|name| !name.ends_with(".sock")).collect();
        files.sort();
        Self {
            rows: rows.collect(),
            files,
            tmux: tmux_sessions(data),
            processes: processes(&data.join("agents")),
        }
    }
}

/// A way to a server, for whoever makes agents and talks to them.
pub struct Desk {
    /// Shows the data folder\'s token.
    pub owner: reqwest::Client,
    pub http: reqwest::Client,
    pub base: String,
}

/// A server in this process, with a project `shop` and a persona `clerk`.
pub struct Yard {
    _swept: Swept,
    projects: TempDir,
    pub server: TestServer,
    pub model: Model,
    desk: Desk,
}

impl Deref for Yard {
    type Target = Desk;

    fn deref(&self) -> &Desk {
        &self.desk
    }
}

/// An agent that was made.
#[derive(Clone)]
pub struct Made {
    pub id: String,
    pub token: String,
    pub session: String,
    pub tmux: String,
}

impl Yard {
    pub async fn open() -> Self {
        Self::with(Model::says(&["Good ", "day."]), |_| {}).await
    }

    /// With a model of the test's own and other settings.
    pub async fn with(model: Model, change: impl FnOnce(&mut Config)) -> Self {
        Self::running(None, model, change).await
    }

    /// With another program in the place of the runner.
    pub async fn with_program(script: &str, change: impl FnOnce(&mut Config)) -> Self {
        Self::running(Some(script), Model::says(&["Hi."]), change).await
    }

    async fn running(script: Option<&str>, model: Model, change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let access = ModelAccess {
            openai_base_url: Some(model.start().await),
            openai_model: Some("test-model".into()),
            program: script.map(|script| program(&folder, script).into()),
            ..ModelAccess::default()
        };
        let mut config = Config::default();
        // Not in the data folder, where no agent may work.
        let projects = tempfile::tempdir().unwrap();
        furnish(projects.path(), &mut config);
        change(&mut config);
        let swept = Swept(folder.path().to_owned());
        let server = TestServer::with_access(folder, config, access).await;
        Self {
            _swept: swept,
            projects,
            desk: Desk::at(&server.url(""), LOCAL_TOKEN),
            server,
            model,
        }
    }

    /// Stops it as ctrl-c would, and starts another on the same folder.
    pub async fn restart(self) -> Self {
        let server = self.server.restart().await;
        Self {
            desk: Desk::at(&server.url(""), LOCAL_TOKEN),
            server,
            ..self
        }
    }

    pub fn data(&self) -> &Path {
        self.server.folder.path()
    }

    /// The folder of the project.
    pub fn shop(&self) -> PathBuf {
        self.projects.path().join("shop")
    }

    /// The folder of the persona.
    pub fn clerk(&self) -> PathBuf {
        self.projects.path().join("clerk")
    }

    pub fn stock(&self) -> Stock {
        Stock::of(self.data())
    }

    /// Waits until there is as much as there was.
    pub async fn back_to(&self, before: &Stock) {
        back_to(self.data(), before).await;
    }
}

impl Desk {
    pub fn at(base: &str, token: &str) -> Self {
        Self {
            owner: client(token),
            http: gangway_models::http_client(),
            base: base.to_owned(),
        }
    }

    /// Asks for an agent.
    pub async fn create(&self, body: Value) -> (u16, Value) {
        answered(self.request(Method::POST, "/create").json(&body)).await
    }

    /// An agent that was told this.
    pub async fn agent(&self, prompt: &str) -> Made {
        self.made(wish(prompt)).await
    }

    pub async fn made(&self, body: Value) -> Made {
        let (status, answer) = self.create(body).await;
        assert_eq!(status, 201, "{answer}");
        Made::of(&answer)
    }

    /// A request below the path of agents: from the owner, or where an agent's own tokens let in, from nobody.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        match path.matches('/').count() {
            0 | 1 => {
                let url = format!("{}/api/remote_agents{path}", self.base);
                self.owner.request(method, url)
            }
            _ => self.nobody(method, path),
        }
    }

    /// The same from nobody.
    pub fn nobody(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}/api/remote_agents{path}", self.base);
        self.http.request(method, url)
    }

    /// The same with the token of an agent, below its path.
    pub fn of(&self, made: &Made, method: Method, path: &str) -> RequestBuilder {
        let path = format!("/{}/{path}", made.id);
        self.request(method, &path).bearer_auth(&made.token)
    }

    pub async fn get(&self, made: &Made, path: &str) -> (u16, Value) {
        answered(self.of(made, Method::GET, path)).await
    }

    pub async fn post(&self, made: &Made, path: &str, body: Value) -> (u16, Value) {
        answered(self.of(made, Method::POST, path).json(&body)).await
    }

    pub async fn alive(&self, made: &Made) -> Value {
        let (status, alive) = self.get(made, "alive").await;
        assert_eq!(status, 200, "{alive}");
        alive
    }

    pub async fn until_state(&self, made: &Made, wanted: &str) {
        eventually(|| async { (self.alive(made).await["state"] == wanted).then_some(()) }).await;
    }

    pub async fn until_ended(&self, made: &Made) {
        eventually(|| async { (self.alive(made).await["alive"] == false).then_some(()) }).await;
    }

    pub async fn stream(&self, made: &Made, last: Option<&str>) -> SseReader {
        let (id, token) = (&made.id, &made.token);
        let url = format!("{}/api/remote_agents/{id}/events?token={token}", self.base);
        SseReader::open(&self.http, &url, last).await
    }

    /// The texts of all answers so far.
    pub async fn answers(&self, made: &Made) -> Vec<String> {
        let (status, history) = self.get(made, "history").await;
        assert_eq!(status, 200, "{history}");
        let lines = history["entries"].as_array().unwrap();
        let answers = lines.iter().filter(|line| line["role"] == "assistant");
        answers
            .map(|line| line["content"].as_str().unwrap().to_owned())
            .collect()
    }
}

impl Made {
    pub fn of(answer: &Value) -> Self {
        let text = |name: &str| answer[name].as_str().unwrap().to_owned();
        Self {
            id: text("agent_id"),
            token: text("session_token"),
            session: text("session_id"),
            tmux: text("tmux_session_name"),
        }
    }
}

/// Waits until there is as much in a folder as there was.
pub async fn back_to(data: &Path, before: &Stock) {
    for _ in 0..500 {
        if Stock::of(data) == *before {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(Stock::of(data), *before);
}

/// A request for an agent of the shop.
pub fn wish(prompt: &str) -> Value {
    json!({ "project_name": "shop", "persona_slug": "clerk", "initial_prompt": prompt })
}

/// Text as it stands in an address.
pub fn in_address(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Status and body.
pub async fn answered(request: RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (
        status,
        serde_json::from_str(&text).unwrap_or(Value::String(text)),
    )
}

/// Puts a project and personas into a folder, and into the settings.
fn furnish(folder: &Path, config: &mut Config) {
    let place = |name: &str| {
        let path = folder.join(name);
        std::fs::create_dir(&path).unwrap();
        path
    };
    let shop = ProjectConfig {
        folder: place("shop"),
        brain: None,
        model: None,
        mcp_servers: None,
    };
    config.projects.insert("shop".into(), shop);
    for (slug, active) in [("clerk", true), ("ghost", false)] {
        let folder = place(slug);
        std::fs::write(folder.join("skill.md"), SKILL).unwrap();
        std::fs::write(folder.join("experience.md"), EXPERIENCE).unwrap();
        let persona = PersonaConfig { folder, active };
        config.personas.insert(slug.into(), persona);
    }
}

/// A script that can be started.
fn program(folder: &TempDir, script: &str) -> PathBuf {
    let path = folder.path().join("program.sh");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}
