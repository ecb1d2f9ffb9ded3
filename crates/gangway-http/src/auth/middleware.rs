//! The guard as middleware, and CORS headers.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    extract::{ConnectInfo, MatchedPath, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::Guard;
use crate::{
    Http,
    access::{BodyLimit, Rule, asset},
    error::ApiError,
    routes::Rules,
};

impl Guard {
    /// Whether pages of this foreign origin may use the API.
    #[must_use]
    pub fn is_guest(&self, origin: &str) -> bool {
        self.guests.contains(&origin.to_lowercase())
    }

    /// The foreign origin whose page may read the response.
    fn shared_with(&self, headers: &HeaderMap, rule: &Rule) -> Option<HeaderValue> {
        let origin = headers.get(header::ORIGIN)?;
        let name = origin.to_str().ok()?.to_lowercase();
        let embeds = rule.embeds && self.embedders.contains(&name);
        (embeds || self.guests.contains(&name)).then(|| origin.clone())
    }
}

pub async fn guard(
    State((http, rules)): State<(Arc<Http>, Arc<Rules>)>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    let rule = match request.extensions().get::<MatchedPath>() {
        // Pages and their files, or 404.
        None => asset(),
        Some(path) => match rules.find(path.as_str(), request.method()) {
            Some(rule) => *rule,
            None => {
                tracing::error!(path = path.as_str(), "route without access rule");
                let message = "internal error; see the server's log";
                return ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", message)
                    .into_response();
            }
        },
    };
    let shared_with = http.guard.shared_with(request.headers(), &rule);
    let preflight = request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = match http.guard.check(&http, &rule, &request, peer.ip()) {
        Ok(_) if preflight && shared_with.is_some() => StatusCode::NO_CONTENT.into_response(),
        Ok(admitted) => {
            request.extensions_mut().insert(admitted);
            let limit = BodyLimit(rule.body.limit(&http.limits));
            request.extensions_mut().insert(limit);
            next.run(request).await
        }
        Err((reason, error)) => {
            http.metrics.refuse(reason);
            error.into_response()
        }
    };
    if shared_with.is_some() || rule.embeds {
        let vary = HeaderValue::from_static("Origin");
        response.headers_mut().append(header::VARY, vary);
    }
    if let Some(origin) = shared_with {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("Retry-After, Mcp-Session-Id"),
        );
        if preflight {
            headers.insert(
                header::ACCESS_CONTROL_ALLOW_METHODS,
                HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE"),
            );
            headers.insert(
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                HeaderValue::from_static(
                    "authorization, content-type, last-event-id, idempotency-key, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name",
                ),
            );
            headers.insert(
                header::ACCESS_CONTROL_MAX_AGE,
                HeaderValue::from_static("600"),
            );
        }
    }
    response
}
