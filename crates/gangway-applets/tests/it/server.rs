//! Applets on a server of their own, with an agent that plays a script.

use std::sync::Arc;

use gangway_agents::Scripted;
use gangway_applets::{AppletRegistry, AppletService, AppletTools, routes::routes};
use gangway_apps::{AppRegistry, Folders, SearchPaths};
use gangway_core::{Agent, Agents, Asks, Consents, Hub, Limits};
use gangway_http::routes::Routes;
use gangway_testing::{
    server::{Parts, Service, ServiceServer, Settings},
    sessions::HasSessions,
};
use gangway_workspaces::{Sessions, Workspaces};

pub type TestServer = ServiceServer<Applets>;

pub struct Applets {
    sessions: Sessions,
    pub tools: Arc<AppletTools>,
    pub asks: Arc<Asks>,
}

#[derive(Default)]
pub struct Config {
    /// What the agent says; without one it is the demo agent.
    pub script: Option<&'static str>,
    pub settings: Settings,
}

impl Service for Applets {
    type Config = Config;

    fn settings(config: &Config) -> Settings {
        config.settings.clone()
    }

    async fn start(config: &Config, parts: Parts) -> (Self, Routes) {
        let (tasks, stop) = (parts.http.sockets.clone(), parts.http.stop.clone());
        let limit = std::time::Duration::from_secs(30);
        let open = gangway_pages::SocketPages::new(
            gangway_pages::Pages::new(gangway_core::Notes::default()),
            limit,
            tasks,
            stop,
        );
        let registry = AppletRegistry::new(&[], &parts.data);
        let asks = Arc::<Asks>::default();
        let (hub, tools) = Hub::new_cyclic(parts.store, Limits::default(), |hub| {
            let tools = AppletTools::new(hub, Arc::clone(&registry), Arc::clone(&asks));
            let agent = match config.script {
                Some(script) => Scripted::parse("scripted", script),
                None => Scripted::demo(),
            };
            let agent: Arc<dyn Agent> = Arc::new(agent.unwrap());
            let agents = Agents::new([("scripted".to_owned(), agent)].into(), "scripted")?;
            Ok::<_, gangway_core::Error>((agents, Arc::new(tools)))
        })
        .unwrap();
        hub.recover().await.unwrap();
        let workspaces = Arc::new(Workspaces::new(&parts.data));
        let sessions = Sessions::new(Arc::clone(&hub), workspaces);
        let apps = AppRegistry::new(&[], &SearchPaths::default(), Folders::at(&parts.data));
        let consents = Arc::new(Consents::new(hub, Arc::clone(&asks)));
        let service =
            AppletService::new(parts.http, sessions.clone(), registry, apps, consents, open);
        let applets = Self {
            sessions,
            tools,
            asks,
        };
        (applets, routes().with_state(Some(service)))
    }

    async fn stop(&self) {
        self.sessions.hub().shut_down().await;
    }
}

impl HasSessions for Applets {
    fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}
