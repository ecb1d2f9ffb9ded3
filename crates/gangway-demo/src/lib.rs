//! The demo: agents and pages of every kind work together in one session, without a model. The actors are real clients
//! of the public endpoints, with keys of their own; what the owner decides stays with the person.
//!
//! - `script`: what happens, in order
//! - `actors`: the MCP client and the external agent; `site`: the page on another origin
//! - `stage`: progress, waiting for pages and events, and what is removed at the end
//! - `routes`, `wire`: starting, following and stopping it over REST
//!
//! Depends on core, http, pages and workspaces, on mcp and devtools for the actors, and on webagent for the permissions of
//! the site; no protocol depends on it.

mod actors;
pub mod routes;
mod script;
mod site;
mod stage;
pub mod wire;

use std::{sync::Arc, time::Duration};

use axum::http::StatusCode;
use gangway_http::{
    Http,
    error::{ApiError, ApiResult},
};
use gangway_pages::Pages;
use gangway_webagent::permissions::Permissions;
use gangway_workspaces::Sessions;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use stage::{Ended, Stage};
use wire::{DemoInfo, DemoState};

/// The longest demo, waiting for the person included.
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// What the demo uses of its server.
#[derive(Clone)]
pub struct Services {
    pub http: Arc<Http>,
    pub sessions: Sessions,
    pub pages: Arc<Pages>,
    pub permissions: Arc<Permissions>,
}

/// Runs one demo at a time.
pub struct Demo {
    services: Services,
    current: Mutex<Option<Current>>,
}

struct Current {
    info: watch::Receiver<DemoInfo>,
    stop: CancellationToken,
}

impl Demo {
    #[must_use]
    pub fn new(services: Services) -> Arc<Self> {
        let current = Mutex::default();
        Arc::new(Self { services, current })
    }

    /// Starts a demo; returns when there is something to open.
    async fn start(&self) -> ApiResult<DemoInfo> {
        let mut info = self.begin()?;
        let begun = info.wait_for(|info| info.launch_id.is_some() || !info.state.is_running());
        let info = begun.await.map(|info| info.clone());
        let info = info.map_err(|_| failed("the demo ended early"))?;
        match (&info.state, &info.error) {
            (DemoState::Running, _) => Ok(info),
            (_, error) => Err(failed(error.as_deref().unwrap_or("the demo ended early"))),
        }
    }

    fn begin(&self) -> ApiResult<watch::Receiver<DemoInfo>> {
        let stop = self.services.http.stop.child_token();
        let mut current = self.current.lock();
        if let Some(running) = &*current
            && running.info.borrow().state.is_running()
        {
            let message = "a demo is running already; finish or end it first";
            let code = "demo_running";
            return Err(ApiError::new(StatusCode::CONFLICT, code, message));
        }
        let (stage, info) = Stage::new(self.services.clone());
        let (info_kept, stopped) = (info.clone(), stop.clone());
        *current = Some(Current {
            info: info_kept,
            stop,
        });
        drop(current);
        // The person may leave the page that started it.
        self.services.http.sockets.spawn(async move {
            let ended = tokio::select! {
                ended = script::run(&stage) => ended,
                () = stopped.cancelled() => Err(Ended::Stopped),
                () = tokio::time::sleep(LONGEST) => {
                    Err(Ended::Failed("The demo was not finished within 15 minutes.".to_owned()))
                }
            };
            stage.clean_up().await;
            stage.end(ended);
        });
        Ok(info)
    }

    fn info(&self) -> Option<watch::Receiver<DemoInfo>> {
        self.current.lock().as_ref().map(|one| one.info.clone())
    }

    /// Ends the running demo, and returns when everything of it is removed.
    async fn stop(&self) {
        let (mut info, stop) = match &*self.current.lock() {
            Some(current) => (current.info.clone(), current.stop.clone()),
            None => return,
        };
        stop.cancel();
        let _ = info.wait_for(|info| !info.state.is_running()).await;
    }
}

fn failed(message: &str) -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "demo_failed", message)
}
