//! A server in the test's own process.

use std::{
    ops::Deref,
    path::{Path, PathBuf},
    sync::Arc,
};

use gangway::{
    app::App,
    config::{AgentConfig, Config},
    server::{Server, ServerError},
};
use gangway_core::Store;
use gangway_providers::ModelAccess;
use gangway_testing::server::Client;
use serde_json::json;
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use super::{LOCAL_TOKEN, SseReader, client::started};

/// A running server on a folder of its own.
pub struct TestServer {
    pub client: Client,
    /// Shows nothing.
    pub bare: reqwest::Client,
    pub app: Arc<App>,
    pub folder: TempDir,
    config: Config,
    model: ModelAccess,
    stop: Option<oneshot::Sender<()>>,
    task: Option<JoinHandle<()>>,
}

impl TestServer {
    /// With the demo agent.
    pub async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// With other settings.
    pub async fn with(change: impl FnOnce(&mut Config)) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), change).await
    }

    /// On a folder that holds something already, with other settings.
    pub async fn in_folder(folder: TempDir, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config {
            default_agent: "demo".into(),
            ..Config::default()
        };
        alone(&mut config);
        change(&mut config);
        Self::launch(folder, config, ModelAccess::default()).await
    }

    /// With an agent named `scripted` that plays this script, and is the default.
    pub async fn scripted(script: &str) -> Self {
        Self::scripted_with(script, |_| {}).await
    }

    /// The same, with other settings.
    pub async fn scripted_with(script: &str, change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("script.yaml");
        std::fs::write(&file, script).unwrap();
        let mut config = Config {
            default_agent: "scripted".into(),
            ..Config::default()
        };
        alone(&mut config);
        config
            .agents
            .insert("scripted".into(), AgentConfig { script: file });
        change(&mut config);
        Self::launch(folder, config, ModelAccess::default()).await
    }

    /// With the built-in agent on this model server.
    pub async fn with_model(base_url: &str, key: Option<&str>) -> Self {
        let mut config = Config::default();
        alone(&mut config);
        let key = key.map(|key| ("OPENAI_API_KEY".to_owned(), key.to_owned()));
        let model = ModelAccess {
            openai_base_url: Some(base_url.into()),
            openai_model: Some("test-model".into()),
            keys: key.into_iter().collect(),
            ..ModelAccess::default()
        };
        Self::launch(tempfile::tempdir().unwrap(), config, model).await
    }

    /// On a folder of the test's own, with these settings and this way to models and to the program itself.
    pub async fn with_access(folder: TempDir, mut config: Config, model: ModelAccess) -> Self {
        alone(&mut config);
        Self::launch(folder, config, model).await
    }

    async fn launch(folder: TempDir, config: Config, mut model: ModelAccess) -> Self {
        let program = || env!("CARGO_BIN_EXE_gangway").into();
        model.program.get_or_insert_with(program);
        let engine = || Path::new(env!("CARGO_BIN_EXE_gangway")).with_file_name("gangway-engine");
        model.engine.get_or_insert_with(engine);
        let store = Store::open(folder.path()).unwrap();
        Self::on(folder, config, model, store).await
    }

    /// On a store that the test opened in its own way.
    pub async fn on(folder: TempDir, config: Config, model: ModelAccess, store: Store) -> Self {
        Self::try_on(folder, config, model, store).await.unwrap()
    }

    /// The same, where the data may keep it from starting.
    pub async fn try_on(
        folder: TempDir,
        config: Config,
        model: ModelAccess,
        store: Store,
    ) -> Result<Self, ServerError> {
        let listener = TcpListener::bind(&config.listen.replace(":3000", ":0"))
            .await
            .unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server::new(
            config.clone(),
            folder.path(),
            store,
            model.clone(),
            address,
            LOCAL_TOKEN,
        )
        .await?;
        let app = Arc::clone(server.app());
        started(LOCAL_TOKEN);
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let stop = async {
                let _ = stopped.await;
            };
            server.listen(listener, stop).await.unwrap();
        });
        Ok(Self {
            client: Client::new(address),
            bare: gangway_models::http_client(),
            app,
            folder,
            config,
            model,
            stop: Some(stop),
            task: Some(task),
        })
    }

    /// Stops it as ctrl-c would, and starts another on the same folder.
    pub async fn restart(self) -> Self {
        self.restart_with(|_| {}).await
    }

    /// The same, with other settings.
    pub async fn restart_with(mut self, change: impl FnOnce(&mut Config)) -> Self {
        drop(self.stop.take());
        self.task.take().unwrap().await.unwrap();
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        let (mut config, model) = (self.config.clone(), self.model.clone());
        change(&mut config);
        drop(self);
        Self::launch(folder, config, model).await
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// A new session's id.
    pub async fn session(&self) -> String {
        let (status, session) = self.post("/api/sessions", json!({})).await;
        assert_eq!(status, 201, "{session}");
        session["sessionId"].as_str().unwrap().to_owned()
    }

    /// Says something; the id of the stream that answers.
    pub async fn send_message(&self, session: &str, prompt: &str) -> String {
        let path = format!("/api/sessions/{session}/messages");
        let (status, accepted) = self.post(&path, json!({ "prompt": prompt })).await;
        assert_eq!(status, 202, "{accepted}");
        accepted["streamId"].as_str().unwrap().to_owned()
    }

    /// Opens a stream of server-sent events.
    pub async fn sse(&self, path: &str, last_event_id: Option<&str>) -> SseReader {
        SseReader::open(&self.http, &self.url(path), last_event_id).await
    }

    /// Says something and waits until it is answered; the text of the answer.
    pub async fn ask(&self, session: &str, prompt: &str) -> String {
        let stream = self.send_message(session, prompt).await;
        let frames = self
            .sse(&format!("/api/stream/{stream}"), None)
            .await
            .rest()
            .await;
        let text = |frame: &super::Frame| frame.data["content"].as_str().map(str::to_owned);
        let messages = frames
            .iter()
            .filter(|frame| frame.event == "assistant.message");
        messages.filter_map(text).collect()
    }
}

impl Deref for TestServer {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// No limit on requests, no look at what else runs on the machine, and no retries of failing models.
fn alone(config: &mut Config) {
    config.limits.requests_per_second = 1_000_000;
    config.limits.request_burst = 1_000_000;
    config.models.detect = false;
    config.models.retries = 0;
    config.tools.catalog_url = "off".into();
}
