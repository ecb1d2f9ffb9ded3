//! All routes, grouped by who calls them.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    handler::Handler,
    http::Method,
    middleware,
    response::{IntoResponse, Redirect, Response},
};
use gangway_http::{
    auth, finish,
    routes::{Routes, Rules},
};

use gangway_relay::RelayState;
use gangway_remote::RemoteState;
use gangway_tools::ToolsState;

use crate::{app::App, docs, health, keys, protocols};

/// The access rules of all routes except MCP's, which need a running server.
#[must_use]
pub fn rules() -> Rules {
    routes(None).into_parts().1
}

/// All routes except MCP's; without a server only their rules.
fn routes(app: Option<&Arc<App>>) -> Routes {
    let relay = app.map(|app| {
        Arc::new(RelayState {
            http: Arc::clone(&app.http),
            relay: Arc::clone(&app.relay),
            message_bytes: app.config.relay.message_bytes,
        })
    });
    let remote = app.map(|app| {
        Arc::new(RemoteState {
            http: Arc::clone(&app.http),
            remote: Arc::clone(&app.remote),
        })
    });
    let tools_state = app.map(|app| {
        Arc::new(ToolsState {
            http: Arc::clone(&app.http),
            tools: Arc::clone(&app.tools),
            toolset: Arc::clone(&app.toolset),
            approvals: Arc::clone(&app.approvals),
        })
    });
    Routes::new()
        .merge(protocols::sessions::routes())
        .merge(protocols::pages::routes())
        .merge(keys::routes())
        .merge(health::routes())
        .merge(docs::routes())
        .with_state(app.cloned())
        .merge(gangway_http::asks::routes().with_state(app.map(|app| Arc::clone(&app.asks))))
        .merge(
            gangway_webagent::routes::routes()
                .with_state(app.map(|app| Arc::clone(&app.web_agent))),
        )
        .merge(
            gangway_applets::routes::routes().with_state(app.map(|app| Arc::clone(&app.applets))),
        )
        .merge(
            gangway_weblets::routes::routes().with_state(app.map(|app| Arc::clone(&app.weblets))),
        )
        .merge(
            gangway_cinema::routes::routes().with_state(app.map(|app| Arc::clone(&app.box_office))),
        )
        .merge(gangway_demo::routes::routes().with_state(app.map(|app| Arc::clone(&app.demo))))
        .merge(gangway_openai::routes().with_state(app.map(|app| Arc::clone(&app.models.registry))))
        .merge(gangway_providers::routes().with_state(app.map(|app| Arc::clone(&app.models))))
        .merge(gangway_relay::routes::routes().with_state(relay))
        .merge(gangway_remote::routes::routes().with_state(remote))
        .merge(gangway_tools::routes::routes().with_state(tools_state))
}

pub(super) fn build(app: &Arc<App>) -> Router {
    let (router, rules) = routes(Some(app))
        .merge(protocols::mcp::routes(app).with_state(Some(Arc::clone(app))))
        .into_parts();
    let rules = Arc::new(rules);
    router
        .fallback_service(pages.with_state(Arc::clone(app)))
        .method_not_allowed_fallback(finish::method_not_allowed)
        .layer(middleware::from_fn_with_state(
            Arc::clone(&app.weblets),
            gangway_weblets::on_app_host,
        ))
        .layer(middleware::from_fn_with_state(
            (Arc::clone(&app.http), rules),
            auth::guard,
        ))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&app.http),
            finish::finish,
        ))
        .layer(middleware::from_fn(gangway_openai::in_openai_form))
}

/// Our pages, and a 404 for everything else.
async fn pages(State(app): State<Arc<App>>, request: Request) -> Response {
    let path = request.uri().path();
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let ours = matches!(
        path,
        "/" | "/agents"
            | "/applets"
            | "/models"
            | "/tools"
            | "/permissions"
            | "/permit"
            | "/open-app"
            | "/replay"
            | "/study"
    ) || path.starts_with("/sessions/")
        || path.starts_with("/replay/")
        || path.starts_with("/study/");
    if reads && ours {
        if let Some(there) = elsewhere(&app, &request) {
            return Redirect::temporary(&there).into_response();
        }
        if path == "/permit" && *request.method() == Method::GET {
            let asked = request.uri().query().unwrap_or_default();
            if let Some(Ok(id)) = asked.strip_prefix("ask=").map(str::parse) {
                app.asks.asks.window_loads(&id);
            }
        }
        return gangway_assets::page(request.headers());
    }
    if reads
        && let Some(file) = gangway_assets::file(path.trim_start_matches('/'), request.headers())
    {
        return file;
    }
    finish::not_found().await.into_response()
}

/// The canonical URL for a browser that uses another name of this machine: a login belongs to one origin.
fn elsewhere(app: &App, request: &Request) -> Option<String> {
    let asked = auth::host(request.headers())?;
    let near = ["localhost", "[::1]", "127.0.0.1"];
    let own = app
        .http
        .own_url
        .strip_prefix("http://")?
        .rsplit_once(':')?
        .0;
    let other = asked != own && near.contains(&asked.as_str()) && near.contains(&own);
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str());
    other.then(|| format!("{}{path}", app.http.own_url))
}
