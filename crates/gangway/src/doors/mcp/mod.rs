//! Gangway as an MCP server: `/mcp` for all of it, `/mcp/SERVER` for one of the person's servers as it is.

mod convert;
mod handler;
mod offer;
mod scope;
mod sessions;
mod transcript;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    http::{Method, StatusCode},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};

use crate::{error::ApiError, server::App};

/// Clients of the older revisions that hold a session at the same time; far more than anyone has.
const MOST_SESSIONS: usize = 1000;

/// The routes. Who may come in was decided before.
pub fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    let sessions = Arc::new(LocalSessionManager::default());
    // Host and origin were checked by the guard, which knows the settings.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(app.config.limits.body_bytes)
        .with_json_response(true)
        .with_cancellation_token(app.stop.child_token());
    let door = offer::Door::new(app);
    let service =
        StreamableHttpService::new(move || Ok(door.opened()), Arc::clone(&sessions), config);
    Router::new()
        .route_service("/mcp", service.clone())
        .route_service("/mcp/{server}", service)
        .layer(middleware::from_fn_with_state(sessions, bounded))
}

/// Refuses one session too many; each costs memory until its client says goodbye or falls silent.
async fn bounded(
    State(sessions): State<Arc<LocalSessionManager>>,
    request: Request,
    next: Next,
) -> Response {
    let opens =
        request.method() == Method::POST && !request.headers().contains_key("mcp-session-id");
    if opens && sessions.sessions.read().await.len() >= MOST_SESSIONS {
        let message = format!("{MOST_SESSIONS} MCP clients are connected already; end one first");
        let error = ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too_many_sessions",
            message,
        );
        return error.retry_after(30).into_response();
    }
    next.run(request).await
}
