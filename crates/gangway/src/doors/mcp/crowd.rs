//! How many clients of the older revisions hold a session, all together and of one sender.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use axum::{
    Extension,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{Method, StatusCode},
    middleware::Next,
    response::{IntoResponse, Response},
};
use gangway_http::{auth::Admitted, error::ApiError};
use rmcp::transport::{
    common::server_side_http::SessionId,
    streamable_http_server::session::local::LocalSessionManager,
};
use serde::Deserialize;

use super::{scope::SESSION, streams};
use crate::app::App;

/// Sessions at the same time; far more than anyone has.
const MOST: usize = 1000;

/// Sessions of one sender, so that no one sender shuts out the others.
const MOST_OF_ONE: usize = 250;

/// Bytes of a greeting: what a client says about itself is kept for as long as its session lasts.
const GREETING: usize = 64 << 10;

/// The header that names the revision of a request.
const VERSION: &str = "mcp-protocol-version";

/// Who holds which sessions.
pub(super) struct Crowd {
    sessions: Arc<LocalSessionManager>,
    held: Mutex<HashMap<String, Vec<SessionId>>>,
    body_bytes: usize,
    /// The server holds its routes, so the routes must not hold the server.
    app: Weak<App>,
}

#[derive(Default, Deserialize)]
struct Said {
    method: Option<String>,
    #[serde(default)]
    params: Params,
}

#[derive(Default, Deserialize)]
struct Params {
    #[serde(rename = "protocolVersion")]
    version: Option<String>,
}

impl Crowd {
    pub(super) fn new(app: &Arc<App>, sessions: Arc<LocalSessionManager>) -> Self {
        Self {
            sessions,
            held: Mutex::default(),
            body_bytes: app.http.limits.body_bytes,
            app: Arc::downgrade(app),
        }
    }

    /// Why this sender gets no session, if so.
    async fn refuses(&self, sender: &str) -> Option<ApiError> {
        let open = self.sessions.sessions.read().await;
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|_, sessions| {
            sessions.retain(|id| open.contains_key(id));
            !sessions.is_empty()
        });
        let own = held.get(sender).map_or(0, Vec::len);
        let most = match (open.len() >= MOST, own >= MOST_OF_ONE) {
            (_, true) => MOST_OF_ONE,
            (true, false) => MOST,
            (false, false) => return None,
        };
        let message = format!("{most} MCP clients are connected already; end one first");
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Some(ApiError::new(status, "too_many_sessions", message).retry_after(30))
    }

    fn holds(&self, sender: String, response: &Response) {
        let id = response.headers().get(SESSION);
        if let Some(id) = id.and_then(|id| id.to_str().ok()) {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            held.entry(sender).or_default().push(id.into());
        }
    }
}

fn too_large(message: String) -> Response {
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message).into_response()
}

/// Refuses one session too many; each costs memory until its client says goodbye or falls silent. Sees to it that
/// streams end with the key that opened them.
pub(super) async fn bounded(
    State(crowd): State<Arc<Crowd>>,
    Extension(admitted): Extension<Admitted>,
    request: Request,
    next: Next,
) -> Response {
    let ends = request.method() == Method::DELETE;
    let version = request.headers().get(VERSION);
    let version = version.and_then(|version| version.to_str().ok());
    let mut version = version.map(str::to_owned);
    let app = crowd.app.clone();
    let response = greeted(&crowd, &admitted, request, next, &mut version).await;
    if ends && response.status() == StatusCode::ACCEPTED {
        // The session is over by now, and there is nothing more to say.
        return StatusCode::NO_CONTENT.into_response();
    }
    streams::followed(response, version.as_deref(), app, admitted)
}

/// Passes a request on; one that begins a session names the client's revision.
async fn greeted(
    crowd: &Crowd,
    admitted: &Admitted,
    request: Request,
    next: Next,
    version: &mut Option<String>,
) -> Response {
    if request.method() != Method::POST || request.headers().contains_key(SESSION) {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let most = crowd.body_bytes;
    let Ok(body) = to_bytes(body, most).await else {
        return too_large(format!("the body has more than {most} bytes"));
    };
    let said: Said = serde_json::from_slice(&body).unwrap_or_default();
    let greets = said.method.as_deref() == Some("initialize");
    let size = body.len();
    let request = Request::from_parts(parts, Body::from(body));
    if !greets {
        return next.run(request).await;
    }
    *version = said.params.version;
    if size > GREETING {
        return too_large(format!("`initialize` has more than {GREETING} bytes"));
    }
    let sender = admitted.caller();
    if let Some(error) = crowd.refuses(&sender).await {
        return error.into_response();
    }
    let response = next.run(request).await;
    crowd.holds(sender, &response);
    response
}
