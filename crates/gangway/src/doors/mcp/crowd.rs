//! How many clients of the older revisions hold a session, all together and of one sender.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    Extension,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{Method, StatusCode},
    middleware::Next,
    response::{IntoResponse, Response},
};
use rmcp::transport::{
    common::server_side_http::SessionId,
    streamable_http_server::session::local::LocalSessionManager,
};
use serde::Deserialize;

use crate::{auth::Admitted, error::ApiError};

/// Sessions at the same time; far more than anyone has.
const MOST: usize = 1000;

/// Sessions of one sender, so that no one sender shuts out the others.
const MOST_OF_ONE: usize = 250;

/// Bytes of a greeting: what a client says about itself is kept for as long as its session lasts.
const GREETING: usize = 64 << 10;

const SESSION: &str = "mcp-session-id";

/// Who holds which sessions.
pub(super) struct Crowd {
    sessions: Arc<LocalSessionManager>,
    held: Mutex<HashMap<String, Vec<SessionId>>>,
    body_bytes: usize,
}

#[derive(Deserialize)]
struct Said {
    method: Option<String>,
}

impl Crowd {
    pub(super) fn new(sessions: Arc<LocalSessionManager>, body_bytes: usize) -> Self {
        Self {
            sessions,
            held: Mutex::default(),
            body_bytes,
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

/// Refuses one session too many; each costs memory until its client says goodbye or falls silent.
pub(super) async fn bounded(
    State(crowd): State<Arc<Crowd>>,
    Extension(admitted): Extension<Admitted>,
    request: Request,
    next: Next,
) -> Response {
    if request.method() != Method::POST || request.headers().contains_key(SESSION) {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let most = crowd.body_bytes;
    let Ok(body) = to_bytes(body, most).await else {
        return too_large(format!("the body has more than {most} bytes"));
    };
    let said: Option<Said> = serde_json::from_slice(&body).ok();
    let greets = said.and_then(|said| said.method).as_deref() == Some("initialize");
    let size = body.len();
    let request = Request::from_parts(parts, Body::from(body));
    if !greets {
        return next.run(request).await;
    }
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
