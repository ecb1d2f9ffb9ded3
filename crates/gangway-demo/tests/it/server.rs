//! The demo on a server of its own.

use std::sync::Arc;

use gangway_agents::Scripted;
use gangway_core::{Agent, Agents, Asks, Hub, Limits, Notes};
use gangway_demo::{Demo, Services, routes::routes};
use gangway_http::routes::Routes;
use gangway_pages::Pages;
use gangway_testing::server::{Parts, Service, ServiceServer};
use gangway_webagent::permissions::Permissions;
use gangway_workspaces::{Sessions, Workspaces};

pub type TestServer = ServiceServer<DemoService>;

pub struct DemoService {
    sessions: Sessions,
}

impl Service for DemoService {
    type Config = ();

    async fn start((): &(), parts: Parts) -> (Self, Routes) {
        let permissions = Permissions::load(parts.store.clone(), Arc::<Asks>::default());
        let permissions = permissions.await.unwrap();
        let agent: Arc<dyn Agent> = Arc::new(Scripted::demo().unwrap());
        let agents = Agents::new([("demo".to_owned(), agent)].into(), "demo").unwrap();
        let hub = Hub::new(parts.store, agents, Limits::default());
        let sessions = Sessions::new(hub, Arc::new(Workspaces::new(&parts.data)));
        let demo = Demo::new(Services {
            http: parts.http,
            sessions: sessions.clone(),
            pages: Pages::new(Notes::default()),
            permissions,
        });
        (Self { sessions }, routes().with_state(Some(demo)))
    }

    async fn stop(&self) {
        self.sessions.hub().shut_down().await;
    }
}
