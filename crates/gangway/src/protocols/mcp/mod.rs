//! Gangway as an MCP server: `/mcp` offers everything, `/mcp/SERVER` one of the user's MCP servers unchanged.

mod convert;
mod handler;
mod offer;
mod pages;
mod scope;
mod session_limits;
mod sessions;
mod sources;
mod streams;
mod transcript;

use std::{sync::Arc, time::Duration};

use axum::middleware;
use gangway_http::{
    access::{Scope, scope},
    routes::Routes,
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use session_limits::{SessionLimits, bounded};

use crate::app::App;

/// Reconnection delay of a client whose response was interrupted.
const RETRY: Duration = Duration::from_millis(500);

/// How long responses are kept for that. Every call scans all kept ones, and a busy client fetches large results
/// quickly, so not for long.
const KEPT: Duration = Duration::from_secs(1);

/// Access is checked by the route's rule.
pub fn routes(app: &Arc<App>) -> Routes<Arc<App>> {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.sse_retry = Some(RETRY);
    sessions.session_config.completed_cache_ttl = KEPT;
    let sessions = Arc::new(sessions);
    // Host and origin were checked by the guard, which knows the settings.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(app.http.limits.body_bytes)
        .with_json_response(true)
        .with_sse_retry(Some(RETRY))
        .with_cancellation_token(app.http.stop.child_token());
    let door = offer::McpHandler::new(app);
    let service =
        StreamableHttpService::new(move || Ok(door.opened()), Arc::clone(&sessions), config);
    let crowd = Arc::new(SessionLimits::new(app, sessions));
    let rule = scope(Scope::Tools).json();
    Routes::new()
        .service("/mcp", rule, service.clone())
        .service("/mcp/{server}", rule, service)
        .map(|router| router.layer(middleware::from_fn_with_state(crowd, bounded)))
}
