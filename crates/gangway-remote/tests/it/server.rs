//! Remote agents on a server of their own, with runners that know one model.

use std::{collections::BTreeMap, ops::Deref, path::PathBuf, sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, ready};
use gangway_core::{Agent, Agents, Hub, Limits, SessionId, Tool, ToolError, ToolName, Toolbox};
use gangway_http::routes::Routes;
use gangway_remote::{
    AGENT, LiveAgents, RemoteAgents, RemoteConfig, RemoteSettings, RemoteState, RunnerAgent,
    Services, SessionPages,
    config::{PersonaConfig, ProjectConfig},
    routes::routes,
};
use gangway_testing::{
    providers::models,
    remote_client::{Persona, RemoteServer},
    server::{Parts, Service, ServiceServer, Settings},
    sessions::HasSessions,
};
use gangway_workspaces::{Sessions, Workspaces};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

/// How long a stop waits for agents that are being made.
const STOP_WITHIN: Duration = Duration::from_secs(2);

pub type Yard = gangway_testing::remote_client::TestRemote<TestServer>;

pub struct TestServer(ServiceServer<RemoteService>);

pub struct RemoteService {
    pub remote: Arc<RemoteAgents>,
    pub sessions: Sessions,
    tasks: TaskTracker,
}

#[derive(Default)]
pub struct Config {
    pub remote_agents: RemoteConfig,
    pub projects: BTreeMap<String, ProjectConfig>,
    pub personas: BTreeMap<String, PersonaConfig>,
    pub allowed_origins: Vec<String>,
    pub queued_prompts: Option<usize>,
    model_url: String,
    /// The runner.
    program: PathBuf,
}

impl Deref for TestServer {
    type Target = ServiceServer<RemoteService>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl RemoteServer for TestServer {
    type Config = Config;

    fn settings(shop: PathBuf, personas: [Persona; 2]) -> Config {
        let shop = ProjectConfig {
            folder: shop,
            backend: None,
            model: None,
            mcp_servers: None,
        };
        let persona =
            |Persona {
                 slug,
                 folder,
                 active,
             }| { (slug.to_owned(), PersonaConfig { folder, active }) };
        Config {
            projects: [("shop".to_owned(), shop)].into(),
            personas: personas.map(persona).into(),
            ..Config::default()
        }
    }

    async fn start(
        folder: TempDir,
        config: Config,
        model_url: String,
        program: Option<PathBuf>,
    ) -> Self {
        let server = ServiceServer::on(folder, |own| {
            *own = Config {
                model_url,
                program: program.unwrap_or_else(runner),
                ..config
            };
        });
        Self(server.await)
    }

    async fn restart(self) -> Self {
        Self(self.0.restart().await)
    }

    fn url(&self) -> String {
        self.0.url("")
    }

    fn data(&self) -> PathBuf {
        self.0.data()
    }
}

/// The runner, which cargo builds with the tests.
fn runner() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let program = own.ancestors().nth(2).unwrap();
    let program = program.join("examples/remote_runner");
    assert!(
        program.exists(),
        "{} is missing: run `cargo build -p gangway-remote --examples`",
        program.display()
    );
    program
}

impl Service for RemoteService {
    type Config = Config;

    fn settings(config: &Config) -> Settings {
        Settings {
            allowed_origins: config.allowed_origins.clone(),
            embed_origins: config.remote_agents.allowed_origins.clone(),
            ..Settings::default()
        }
    }

    async fn start(config: &Config, parts: Parts) -> (Self, Routes) {
        let stop = parts.http.stop.clone();
        let live = LiveAgents::load(&parts.store, &stop).await.unwrap();
        let agent: Arc<dyn Agent> = Arc::new(RunnerAgent {
            live: Arc::clone(&live),
            pages: Arc::<NoPages>::default(),
        });
        let agents = Agents::new([(AGENT.to_owned(), agent)].into(), AGENT).unwrap();
        let mut limits = Limits::default();
        limits.queued_prompts = config.queued_prompts.unwrap_or(limits.queued_prompts);
        let models = models(None, &parts);
        let hub = Hub::new(parts.store, agents, limits);
        let workspaces = Arc::new(Workspaces::new(&parts.data));
        let settings = RemoteSettings {
            remote: config.remote_agents.clone(),
            projects: config.projects.clone(),
            personas: config.personas.clone(),
        };
        let message = json!({ "base_url": config.model_url, "model": "test-model" });
        let services = Services {
            live,
            hub: Arc::clone(&hub),
            pages: Arc::<NoPages>::default(),
            workspaces: Arc::clone(&workspaces),
            models,
            runner_settings: Box::new(move || Ok(message.clone())),
            program: Some(config.program.clone().into()),
            stop,
        };
        let remote = RemoteAgents::new(&settings, &parts.data, services).unwrap();
        let service = Self {
            remote: Arc::clone(&remote),
            sessions: Sessions::new(hub, workspaces),
            tasks: TaskTracker::new(),
        };
        service.recover();
        let state = RemoteState {
            http: parts.http,
            remote,
        };
        (service, routes().with_state(Some(Arc::new(state))))
    }

    async fn stop(&self) {
        let _ = tokio::time::timeout(STOP_WITHIN, self.remote.finish()).await;
        self.sessions.hub().shut_down().await;
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl RemoteService {
    /// As the server does it after a start.
    fn recover(&self) {
        let (remote, hub) = (Arc::clone(&self.remote), Arc::clone(self.sessions.hub()));
        self.tasks.spawn(Arc::clone(&remote).supervise());
        self.tasks.spawn(async move {
            remote.recover().await;
            hub.recover().await.unwrap();
            remote.accept_runners().await;
        });
    }
}

/// Sessions without pages: those of the whole server are tested with it.
#[derive(Default)]
struct NoPages(watch::Sender<u64>);

impl Toolbox for NoPages {
    fn tools<'a>(&'a self, _: SessionId, _: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        Box::pin(ready(Vec::new()))
    }

    fn call(
        &self,
        _: SessionId,
        tool: ToolName,
        _: Value,
    ) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(ready(Err(ToolError::NotFound(tool))))
    }
}

impl SessionPages for NoPages {
    fn last_tools(&self, _: SessionId) -> Vec<Arc<Tool>> {
        Vec::new()
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}

impl HasSessions for RemoteService {
    fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}
