//! `window.ai` and `window.agent` on a server of their own, with a model and a real MCP server if a test wants them.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use gangway_agents::ConfiguredAgent;
use gangway_core::{Agent, Agents, Asks, Hub, Limits};
use gangway_http::{
    asks::{self, AskState},
    routes::Routes,
};
use gangway_mcp::{Host, ServerSpec, Transport};
use gangway_providers::Models;
use gangway_testing::{
    fake::Fake,
    mcp_servers,
    providers::models,
    server::{Parts, Service, ServiceServer, Settings},
    sessions::HasSessions,
};
use gangway_webagent::{
    AGENT, Sites, WebAgent, browser::Browser, permissions::Permissions, routes::routes,
};
use gangway_workspaces::{Sessions, Workspaces};

pub type TestServer = ServiceServer<WebAgentService>;

pub struct WebAgentService {
    sessions: Sessions,
    web_agent: Arc<WebAgent>,
    host: Arc<Host>,
    pub asks: Arc<Asks>,
    pub models: Arc<Models>,
    pub permissions: Arc<Permissions>,
}

#[derive(Default)]
pub struct Config {
    /// Where the model `m` answers.
    pub model: Option<String>,
    /// Whether the person has the MCP server `memory`.
    pub memory: bool,
    pub settings: Settings,
}

/// A server with a real MCP server and this model.
pub async fn server(model: &Fake) -> TestServer {
    let base = model.start().await;
    let server = TestServer::with(|config| {
        config.model = Some(base);
        config.memory = true;
    });
    server.await
}

impl Service for WebAgentService {
    type Config = Config;

    fn settings(config: &Config) -> Settings {
        config.settings.clone()
    }

    async fn start(config: &Config, parts: Parts) -> (Self, Routes) {
        let asks = Arc::<Asks>::default();
        let permissions = Permissions::load(parts.store.clone(), Arc::clone(&asks)).await;
        let permissions = permissions.unwrap();
        let host = Host::new(gangway_mcp::Settings::default(), None);
        if config.memory {
            host.set_up(vec![memory(&parts.data)]).await;
            host.ready(&"memory".parse().unwrap()).await.unwrap();
        }
        let sites = Sites::new(
            Arc::clone(&permissions),
            Arc::clone(&host),
            parts.store.clone(),
            gangway_pages::Pages::new(gangway_core::Notes::default()),
            Duration::from_secs(30),
        );
        let models = models(config.model.as_deref(), &parts);
        let agent: Arc<dyn Agent> = Arc::new(ConfiguredAgent::new(
            Arc::clone(&models.registry),
            Arc::clone(&sites) as _,
        ));
        let agents = Agents::new([(AGENT.to_owned(), agent)].into(), AGENT).unwrap();
        let hub = Hub::new(parts.store, agents, Limits::default());
        hub.recover().await.unwrap();
        let workspaces = Arc::new(Workspaces::new(&parts.data));
        let sessions = Sessions::new(Arc::clone(&hub), workspaces);
        let web_agent = Arc::new(WebAgent {
            sites,
            permissions: Arc::clone(&permissions),
            sessions: sessions.clone(),
            models: Arc::clone(&models),
            browser: Arc::<Browser>::default(),
            http: Arc::clone(&parts.http),
        });
        tokio::spawn(Arc::clone(&web_agent).watch());
        let state = Arc::new(AskState {
            http: parts.http,
            asks: Arc::clone(&asks),
            permissions: permissions.changes(),
        });
        let routes = routes().with_state(Some(Arc::clone(&web_agent)));
        let service = Self {
            sessions,
            web_agent,
            host,
            asks,
            models,
            permissions,
        };
        (
            service,
            routes.merge(asks::routes().with_state(Some(state))),
        )
    }

    async fn stop(&self) {
        self.sessions.hub().shut_down().await;
        self.web_agent.shutdown().await;
        self.host.shutdown().await;
    }
}

impl HasSessions for WebAgentService {
    fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}

fn memory(data: &Path) -> ServerSpec {
    let id = "memory".parse().unwrap();
    let mut spec = ServerSpec::stdio(id, mcp_servers::program("memory"), Vec::new());
    // Otherwise it keeps what it learns beside its own code, for every test after this one.
    let file = data.join("memory.json").into_os_string();
    if let Transport::Stdio { env, .. } = &mut spec.transport {
        *env = BTreeMap::from([("MEMORY_FILE_PATH".into(), file)]);
    }
    spec
}
