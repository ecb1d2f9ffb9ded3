//! The person's tools on a server of their own, with a model for the built-in agent if a test wants one.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use gangway_agents::Builtin;
use gangway_core::{Agent, Agents, Asks, Hub, Limits};
use gangway_http::{
    asks::{self, AskState},
    routes::Routes,
};
use gangway_secrets::{SecretStore, Secrets};
use gangway_testing::{
    mcp_servers::installed,
    providers::models,
    server::{Parts, Service, ServiceServer},
    sessions::HasSessions,
};
use gangway_tools::{
    ServerEntry, ServerSelection, ToolSettings, Tools, ToolsConfig, ToolsState, Toolset,
    approvals::{Approvals, ApprovedTools},
    routes::routes,
};
use gangway_workspaces::{Sessions, Workspaces};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

pub type TestServer = ServiceServer<ToolsService>;

pub struct ToolsService {
    sessions: Sessions,
    pub tools: Arc<Tools>,
    pub secrets: Secrets,
    tasks: TaskTracker,
    /// No pages of other sites are here, so nothing is sent.
    _permissions: watch::Sender<u64>,
}

pub struct Config {
    pub tools: ToolsConfig,
    pub mcp_servers: BTreeMap<String, ServerEntry>,
    /// Where the model `m` answers.
    pub model: Option<String>,
}

impl Default for Config {
    fn default() -> Self {
        let tools = ToolsConfig {
            catalog_url: "off".into(),
            ..ToolsConfig::default()
        };
        Self {
            tools,
            mcp_servers: BTreeMap::new(),
            model: None,
        }
    }
}

/// A server with the real MCP server `memory`.
pub async fn with_memory(change: impl FnOnce(&mut Config)) -> TestServer {
    let folder = tempfile::tempdir().unwrap();
    // Otherwise it keeps what it learns beside its own code, for every test after this one.
    let memory = folder.path().join("memory.json");
    let server = TestServer::on(folder, |config| {
        let mut entry = installed("memory");
        entry["env"] = json!({ "MEMORY_FILE_PATH": memory });
        let entry = serde_json::from_value(entry).unwrap();
        config.mcp_servers.insert("memory".into(), entry);
        change(config);
    })
    .await;
    ready(&server, "memory").await;
    server
}

/// A server with the real MCP server `everything`.
pub async fn with_everything() -> TestServer {
    let server = TestServer::with(|config| {
        let entry = serde_json::from_value(installed("everything")).unwrap();
        config.mcp_servers.insert("everything".into(), entry);
    })
    .await;
    ready(&server, "everything").await;
    server
}

/// Waits for an MCP server: the host knows its servers a moment after the start.
pub async fn ready(server: &TestServer, id: &str) {
    let tools = &server.service.tools;
    tools.reload().await;
    tools.host.ready(&id.parse().unwrap()).await.unwrap();
}

impl Service for ToolsService {
    type Config = Config;

    async fn start(config: &Config, parts: Parts) -> (Self, Routes) {
        let secrets = Secrets::open(&parts.data, SecretStore::default());
        let asks = Arc::<Asks>::default();
        let settings = ToolSettings {
            tools: config.tools.clone(),
            servers: config.mcp_servers.clone(),
        };
        let tools = Tools::new(
            &settings,
            &parts.data,
            secrets.clone(),
            Some(guard().as_os_str()),
            ServerSelection::All,
            Arc::clone(&asks),
        );
        let approvals = Approvals::load(parts.store.clone(), Arc::clone(&tools));
        let approvals = approvals.await.unwrap();
        let toolset = Arc::new(Toolset::new(Arc::clone(&tools.host), Vec::new()));
        let approved = ApprovedTools::new(Arc::clone(&toolset), Arc::clone(&approvals));
        let models = models(config.model.as_deref(), &parts);
        let calls = config.tools.calls_per_turn;
        let agent: Arc<dyn Agent> = Arc::new(Builtin::new(
            Arc::clone(&models.registry),
            Arc::new(approved),
            calls,
        ));
        let agents = Agents::new([("builtin".to_owned(), agent)].into(), "builtin").unwrap();
        let hub = Hub::new(parts.store, agents, Limits::default());
        hub.recover().await.unwrap();
        let workspaces = Arc::new(Workspaces::new(&parts.data));
        let (permissions, changes) = watch::channel(0);
        let service = Self {
            sessions: Sessions::new(Arc::clone(&hub), workspaces),
            tools: Arc::clone(&tools),
            secrets,
            tasks: TaskTracker::new(),
            _permissions: permissions,
        };
        let starting = Arc::clone(&tools);
        service.tasks.spawn(async move {
            starting.sweep().await;
            starting.reload().await;
        });
        let asks = AskState {
            http: Arc::clone(&parts.http),
            asks,
            permissions: changes,
        };
        let state = ToolsState {
            http: parts.http,
            tools,
            toolset,
            approvals,
        };
        let routes = routes().with_state(Some(Arc::new(state)));
        let asks = asks::routes().with_state(Some(Arc::new(asks)));
        (service, routes.merge(asks))
    }

    async fn stop(&self) {
        self.sessions.hub().shut_down().await;
        self.tasks.close();
        self.tasks.wait().await;
        self.tools.shutdown().await;
    }
}

impl HasSessions for ToolsService {
    fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}

/// What every server and package manager runs under; cargo builds it with the tests.
fn guard() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let program = own.ancestors().nth(2).unwrap().join("examples/tools_guard");
    assert!(
        program.exists(),
        "{} is missing: run `cargo build -p gangway-tools --examples`",
        program.display()
    );
    program
}
