//! The page of an agent's chat for frames, and the script for pages that embed it.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use gangway_http::{
    cors::CROSS_ORIGIN,
    error::{ApiError, ApiResult},
};

use super::caller::{find, token};
use crate::RemoteState;

/// The chat of an agent, for frames of the allowed origins.
///
/// The page itself contains nothing of the agent and is the same for a wrong token, which it then reports. A reloaded
/// frame has no token in its URL any more, but its own.
pub async fn page(
    State(state): State<Arc<RemoteState>>,
    Path(id): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let known = find(&state, &id);
    let token = token(&HeaderMap::new(), &uri);
    let good = token.is_some_and(|token| known.as_ref().is_some_and(|m| m.knows(&token).is_some()));
    let status = match (good, known.is_some()) {
        (true, _) => StatusCode::OK,
        (false, true) => StatusCode::UNAUTHORIZED,
        (false, false) => StatusCode::NOT_FOUND,
    };
    // Never answer 304: a stored page could be older, and is never requested with the same token again.
    let mut asked = headers.clone();
    asked.remove(header::IF_NONE_MATCH);
    let mut response = gangway_assets::page(&asked);
    if response.status() == StatusCode::OK {
        *response.status_mut() = status;
    }
    let set = response.headers_mut();
    set.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let policy = state.http.page_policy.to_str().unwrap_or_default();
    let policy = policy.replace(
        "frame-ancestors 'none'",
        &format!("frame-ancestors {}", parents(&state)),
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        set.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    // Browsers that support `frame-ancestors` ignore this header.
    let frames = HeaderValue::from_static("SAMEORIGIN");
    set.insert(header::X_FRAME_OPTIONS, frames);
    set.insert(CROSS_ORIGIN.0, HeaderValue::from_static(CROSS_ORIGIN.1));
    let microphone = HeaderValue::from_static("microphone=(self), camera=(), geolocation=()");
    set.insert(
        header::HeaderName::from_static("permissions-policy"),
        microphone,
    );
    response
}

fn parents(state: &RemoteState) -> String {
    let origins = state.remote.config.allowed_origins.iter();
    let origins = origins.map(|origin| origin.trim_end_matches('/').to_owned());
    let all: Vec<_> = ["'self'".to_owned()].into_iter().chain(origins).collect();
    all.join(" ")
}

pub async fn script(headers: HeaderMap) -> ApiResult<Response> {
    let missing = || {
        let message = "this build contains no pages; build them with make web";
        ApiError::new(StatusCode::NOT_FOUND, "not_found", message)
    };
    let file = gangway_assets::file("embed.js", &headers).ok_or_else(missing)?;
    Ok(([CROSS_ORIGIN], file).into_response())
}
