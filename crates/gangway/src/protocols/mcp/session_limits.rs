//! Limits on the MCP sessions of clients of older revisions, in total and per sender.

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

/// Sessions at once; far more than needed.
const MOST: usize = 1000;

/// Sessions per sender, so that no sender locks out the others.
const MOST_OF_ONE: usize = 250;

/// Size limit of `initialize`: its client info is kept as long as the session.
const GREETING: usize = 64 << 10;

const VERSION: &str = "mcp-protocol-version";

pub(super) struct SessionLimits {
    sessions: Arc<LocalSessionManager>,
    held: Mutex<HashMap<String, Vec<SessionId>>>,
    body_bytes: usize,
    /// Weak: the server owns its routes.
    app: Weak<App>,
}

#[derive(Default, Deserialize)]
struct RpcMessage {
    method: Option<String>,
    #[serde(default)]
    params: Params,
}

#[derive(Default, Deserialize)]
struct Params {
    #[serde(rename = "protocolVersion")]
    version: Option<String>,
}

impl SessionLimits {
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
        let message = format!("at most {most} MCP clients can be connected; disconnect one first");
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

/// Rejects sessions above the limits, since each costs memory until its client ends it or times out. Streams end when
/// the key that opened them is revoked.
pub(super) async fn bounded(
    State(crowd): State<Arc<SessionLimits>>,
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
        // The session is already over.
        return StatusCode::NO_CONTENT.into_response();
    }
    streams::followed(response, version.as_deref(), app, admitted)
}

/// Forwards a request; `initialize` has the client's protocol revision.
async fn greeted(
    crowd: &SessionLimits,
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
        return too_large(format!("the body must be at most {most} bytes"));
    };
    let message: RpcMessage = serde_json::from_slice(&body).unwrap_or_default();
    let greets = message.method.as_deref() == Some("initialize");
    let size = body.len();
    let request = Request::from_parts(parts, Body::from(body));
    if !greets {
        return next.run(request).await;
    }
    *version = message.params.version;
    if size > GREETING {
        return too_large(format!("`initialize` must be at most {GREETING} bytes"));
    }
    let sender = admitted.caller();
    if let Some(error) = crowd.refuses(&sender).await {
        return error.into_response();
    }
    let response = next.run(request).await;
    crowd.holds(sender, &response);
    response
}
