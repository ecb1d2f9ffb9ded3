//! Routes of the relay and the web agent on the hosts of apps.

use std::sync::Arc;

use axum::{extract::Request, response::Response};
use gangway_http::Http;
use gangway_weblets::{AppHostRoutes, AppPage};

/// The relay's WebSocket, and the script of `window.ai`.
pub(super) struct AppHosts {
    http: Arc<Http>,
    /// The first of the configured hosts.
    host: Option<String>,
}

impl AppHosts {
    pub(super) fn new(http: Arc<Http>, host: Option<String>) -> Arc<Self> {
        Arc::new(Self { http, host })
    }
}

impl AppHostRoutes for AppHosts {
    fn socket_path(&self) -> &str {
        gangway_relay::SOCKET
    }

    fn identify(&self, request: &mut Request, page: AppPage) {
        request.extensions_mut().insert(gangway_relay::AppPage {
            app: page.app.to_string(),
            chat: page.chat,
        });
    }

    fn script(&self, name: &str) -> Option<Response> {
        (name == "gangway.js")
            .then(|| gangway_webagent::script_for_apps(&self.http, self.host.as_deref()))
            .flatten()
    }
}
