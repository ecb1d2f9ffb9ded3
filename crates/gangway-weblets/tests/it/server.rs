//! Weblets on a server of their own, with the app `notes`.

use std::sync::Arc;

use axum::{Router, extract::Request, middleware, response::Response};
use gangway_agents::Scripted;
use gangway_apps::{AppRegistry, Folders, SearchPaths};
use gangway_core::{Agent, Agents, Asks, Consents, Hub, Limits};
use gangway_http::routes::Routes;
use gangway_testing::{
    server::{Parts, Service, ServiceServer, Settings},
    sessions::HasSessions,
    weblets_client::put_notes,
};
use gangway_weblets::{
    AppHostRoutes, AppPage, Launches, WebletTools, Weblets, on_app_host, routes::routes,
};
use gangway_workspaces::{Sessions, Workspaces};

pub type TestServer = ServiceServer<WebletService>;

pub struct WebletService {
    sessions: Sessions,
    pub apps: Arc<AppRegistry>,
    pub tools: Arc<WebletTools>,
    pub asks: Arc<Asks>,
    pub weblets: Arc<Weblets>,
    pub page_tools: Arc<gangway_pages::PageTools>,
}

impl Service for WebletService {
    type Config = Settings;

    fn settings(config: &Settings) -> Settings {
        config.clone()
    }

    async fn start(_config: &Settings, parts: Parts) -> (Self, Routes) {
        let (tasks, stop) = (parts.http.sockets.clone(), parts.http.stop.clone());
        let limit = std::time::Duration::from_secs(30);
        let pages = gangway_pages::Pages::new(gangway_core::Notes::default());
        let page_tools = Arc::new(gangway_pages::PageTools::new(Arc::clone(&pages)));
        let open = gangway_pages::SocketPages::new(pages, limit, tasks, stop);
        let folders = [put_notes(&parts.data)];
        let apps = AppRegistry::new(&folders, &SearchPaths::default(), Folders::at(&parts.data));
        let workspaces = Arc::new(Workspaces::new(&parts.data));
        let (hub, launches) = Hub::new_cyclic(parts.store, Limits::default(), |hub| {
            let agent = |name: &str| {
                let agent: Arc<dyn Agent> = Arc::new(Scripted::demo().unwrap());
                (name.to_owned(), agent)
            };
            let agents = Agents::new(["demo", "other"].map(agent).into(), "demo")?;
            let (apps, workspaces) = (Arc::clone(&apps), Arc::clone(&workspaces));
            let launches = Launches::new(hub, parts.http, apps, workspaces);
            Ok::<_, gangway_core::Error>((agents, launches))
        })
        .unwrap();
        hub.recover().await.unwrap();
        let asks = Arc::<Asks>::default();
        let weblets = Weblets::new(
            Arc::clone(&launches),
            Arc::clone(&hub),
            Arc::new(Consents::new(Arc::clone(&hub), Arc::clone(&asks))),
            Arc::clone(&asks),
            gangway_mcp::Host::new(gangway_mcp::Settings::default(), None),
            Arc::new(NoOtherRoutes),
            open,
        );
        let service = Self {
            sessions: Sessions::new(hub, workspaces),
            apps,
            tools: Arc::new(WebletTools::new(launches)),
            asks,
            page_tools,
            weblets: Arc::clone(&weblets),
        };
        (service, routes().with_state(Some(weblets)))
    }

    async fn stop(&self) {
        self.sessions.hub().shut_down().await;
    }

    fn behind_guard(&self, router: Router) -> Router {
        let weblets = Arc::clone(&self.weblets);
        router.layer(middleware::from_fn_with_state(weblets, on_app_host))
    }
}

impl HasSessions for WebletService {
    fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}

/// No other protocol on the hosts of apps.
struct NoOtherRoutes;

impl AppHostRoutes for NoOtherRoutes {
    fn socket_path(&self) -> &str {
        "/none"
    }

    fn identify(&self, _request: &mut Request, _page: AppPage) {}

    fn script(&self, _name: &str) -> Option<Response> {
        None
    }
}
