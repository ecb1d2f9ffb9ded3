//! A client that creates remote agents and talks to them, and a server with a project and a persona.

use std::{
    ops::Deref,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    eventually,
    remote_model::Model,
    remote_stock::{Stock, Swept, back_to},
    server::{LOCAL_TOKEN, bare_client, client},
    sse::SseReader,
};

/// What the persona of the tests can do.
pub const SKILL: &str = "You are the clerk of a small shop.";

/// What it has lived through.
pub const EXPERIENCE: &str = "Once a parrot came in.";

/// A client of a server that creates agents and talks to them.
pub struct RemoteClient {
    /// Shows the data folder's token.
    pub owner: reqwest::Client,
    pub http: reqwest::Client,
    pub base: String,
}

/// A server of remote agents in the process of the test.
#[allow(async_fn_in_trait, reason = "tests run on one thread")]
pub trait RemoteServer: Sized {
    type Config;

    /// Settings with a project `shop` and these personas.
    fn settings(shop: PathBuf, personas: [Persona; 2]) -> Self::Config;

    /// Starts on this folder, with this model, and with this program as the runner or the server's usual one.
    async fn start(
        folder: TempDir,
        config: Self::Config,
        model_url: String,
        program: Option<PathBuf>,
    ) -> Self;

    /// Stops as ctrl-c would, and starts another on the same folder.
    async fn restart(self) -> Self;

    fn url(&self) -> String;

    fn data(&self) -> PathBuf;
}

/// A folder with the texts of a persona.
pub struct Persona {
    pub slug: &'static str,
    pub folder: PathBuf,
    pub active: bool,
}

/// A server in this process, with a project `shop` and a persona `clerk`.
pub struct TestRemote<S> {
    _swept: Swept,
    projects: TempDir,
    pub server: S,
    pub model: Model,
    data: PathBuf,
    desk: RemoteClient,
}

impl<S> Deref for TestRemote<S> {
    type Target = RemoteClient;

    fn deref(&self) -> &RemoteClient {
        &self.desk
    }
}

/// An agent that was made.
#[derive(Clone)]
pub struct TestAgent {
    pub id: String,
    pub token: String,
    pub session: String,
    pub tmux: String,
}

impl<S: RemoteServer> TestRemote<S> {
    pub async fn open() -> Self {
        Self::with(Model::says(&["Good ", "day."]), |_| {}).await
    }

    /// With a model of the test's own and other settings.
    pub async fn with(model: Model, change: impl FnOnce(&mut S::Config)) -> Self {
        Self::running(None, model, change).await
    }

    /// With another program in the place of the runner.
    pub async fn with_program(script: &str, change: impl FnOnce(&mut S::Config)) -> Self {
        Self::running(Some(script), Model::says(&["Hi."]), change).await
    }

    async fn running(
        script: Option<&str>,
        model: Model,
        change: impl FnOnce(&mut S::Config),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = script.map(|script| program(&folder, script));
        // Not in the data folder, where no agent may work.
        let projects = tempfile::tempdir().unwrap();
        let mut config = furnished::<S>(projects.path());
        change(&mut config);
        let swept = Swept(folder.path().to_owned());
        let server = S::start(folder, config, model.start().await, program).await;
        Self {
            _swept: swept,
            projects,
            desk: RemoteClient::at(&server.url(), LOCAL_TOKEN),
            data: server.data(),
            server,
            model,
        }
    }

    /// Stops it as ctrl-c would, and starts another on the same folder.
    pub async fn restart(self) -> Self {
        let server = self.server.restart().await;
        Self {
            desk: RemoteClient::at(&server.url(), LOCAL_TOKEN),
            server,
            ..self
        }
    }
}

impl<S> TestRemote<S> {
    pub fn data(&self) -> &Path {
        &self.data
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

impl RemoteClient {
    pub fn at(base: &str, token: &str) -> Self {
        Self {
            owner: client(token),
            http: bare_client(),
            base: base.to_owned(),
        }
    }

    /// Asks for an agent.
    pub async fn create(&self, body: Value) -> (u16, Value) {
        answered(self.request(Method::POST, "/create").json(&body)).await
    }

    /// An agent created with this prompt.
    pub async fn agent(&self, prompt: &str) -> TestAgent {
        self.made(create_request(prompt)).await
    }

    pub async fn made(&self, body: Value) -> TestAgent {
        let (status, answer) = self.create(body).await;
        assert_eq!(status, 201, "{answer}");
        TestAgent::of(&answer)
    }

    /// A request below the path of agents: from the owner, or without credentials where an agent's own token is enough.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        match path.matches('/').count() {
            0 | 1 => {
                let url = format!("{}/api/remote_agents{path}", self.base);
                self.owner.request(method, url)
            }
            _ => self.nobody(method, path),
        }
    }

    /// The same without credentials.
    pub fn nobody(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}/api/remote_agents{path}", self.base);
        self.http.request(method, url)
    }

    /// The same with the token of an agent, below its path.
    pub fn of(&self, made: &TestAgent, method: Method, path: &str) -> RequestBuilder {
        let path = format!("/{}/{path}", made.id);
        self.request(method, &path).bearer_auth(&made.token)
    }

    pub async fn get(&self, made: &TestAgent, path: &str) -> (u16, Value) {
        answered(self.of(made, Method::GET, path)).await
    }

    pub async fn post(&self, made: &TestAgent, path: &str, body: Value) -> (u16, Value) {
        answered(self.of(made, Method::POST, path).json(&body)).await
    }

    pub async fn alive(&self, made: &TestAgent) -> Value {
        let (status, alive) = self.get(made, "alive").await;
        assert_eq!(status, 200, "{alive}");
        alive
    }

    pub async fn until_state(&self, made: &TestAgent, wanted: &str) {
        eventually(|| async { (self.alive(made).await["state"] == wanted).then_some(()) }).await;
    }

    pub async fn until_ended(&self, made: &TestAgent) {
        eventually(|| async { (self.alive(made).await["alive"] == false).then_some(()) }).await;
    }

    pub async fn stream(&self, made: &TestAgent, last: Option<&str>) -> SseReader {
        let (id, token) = (&made.id, &made.token);
        let url = format!("{}/api/remote_agents/{id}/events?token={token}", self.base);
        SseReader::open(&self.http, &url, last).await
    }

    /// The texts of all answers so far.
    pub async fn answers(&self, made: &TestAgent) -> Vec<String> {
        let (status, history) = self.get(made, "history").await;
        assert_eq!(status, 200, "{history}");
        let lines = history["entries"].as_array().unwrap();
        let answers = lines.iter().filter(|line| line["role"] == "assistant");
        answers
            .map(|line| line["content"].as_str().unwrap().to_owned())
            .collect()
    }
}

impl TestAgent {
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

/// A request for an agent of the shop.
pub fn create_request(prompt: &str) -> Value {
    json!({ "project_name": "shop", "persona_slug": "clerk", "initial_prompt": prompt })
}

/// Text, percent-encoded for a URL.
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

/// Puts a project and personas into a folder; the settings that name them.
fn furnished<S: RemoteServer>(folder: &Path) -> S::Config {
    let place = |name: &str| {
        let path = folder.join(name);
        std::fs::create_dir(&path).unwrap();
        path
    };
    let shop = place("shop");
    let personas = [("clerk", true), ("ghost", false)].map(|(slug, active)| {
        let folder = place(slug);
        std::fs::write(folder.join("skill.md"), SKILL).unwrap();
        std::fs::write(folder.join("experience.md"), EXPERIENCE).unwrap();
        Persona {
            slug,
            folder,
            active,
        }
    });
    S::settings(shop, personas)
}

/// A script that can be started.
fn program(folder: &TempDir, script: &str) -> PathBuf {
    let path = folder.path().join("program.sh");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}
