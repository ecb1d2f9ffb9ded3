//! Resources for pages: the script, its broker frame, and the chat panel.

use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, HeaderName, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use gangway_http::{
    access::Scope,
    auth::Admitted,
    cors::CROSS_ORIGIN,
    error::{ApiError, ApiResult},
    extract::{Id, Json, Query},
};
use serde::Deserialize;
use ts_rs::TS;
use utoipa::ToSchema;

use crate::{PanelInfo, Sites, WebAgent};

const BROKER: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Gangway</title>\
    <script src=\"/broker.js\"></script></html>";

/// Any page may embed the broker: it shows nothing, and does only what the page's origin is granted.
const BROKER_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors *";

/// Lets cross-origin isolated pages embed the frame.
const SHARES_NOTHING: (HeaderName, &str) = (
    HeaderName::from_static("cross-origin-embedder-policy"),
    "require-corp",
);

fn missing() -> ApiError {
    let message = "this build contains no web pages; run `make web` and build again";
    ApiError::new(StatusCode::NOT_FOUND, "not_found", message)
}

/// The script that defines `window.ai` and `window.agent`.
pub async fn script(headers: HeaderMap) -> ApiResult<Response> {
    let file = gangway_assets::file("gangway.js", &headers).ok_or_else(missing)?;
    Ok(([CROSS_ORIGIN], file).into_response())
}

/// The broker frame.
pub async fn broker() -> Response {
    let policy = (header::CONTENT_SECURITY_POLICY, BROKER_POLICY);
    // A `frame-ancestors` policy takes precedence over this header.
    let frames = (header::X_FRAME_OPTIONS, "SAMEORIGIN");
    let headers = [policy, frames, CROSS_ORIGIN, SHARES_NOTHING];
    (headers, Html(BROKER)).into_response()
}

/// The script of the broker frame.
pub async fn broker_script(headers: HeaderMap) -> ApiResult<Response> {
    gangway_assets::file("broker.js", &headers).ok_or_else(missing)
}

/// The origin of a panel's parent.
#[derive(Deserialize)]
pub struct ParentQuery {
    r#for: Option<String>,
}

/// A chat panel, which only the page that opened it can embed.
pub async fn panel(
    State(agent): State<Arc<WebAgent>>,
    Query(query): Query<ParentQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let parent = query.r#for.as_deref().and_then(Sites::parent);
    let parent = parent.ok_or_else(|| {
        ApiError::invalid("`for` must be an origin, such as https://shop.example")
    })?;
    let policy = agent.http.page_policy.to_str().unwrap_or_default();
    let policy = policy.replace(
        "frame-ancestors 'none'",
        &format!("frame-ancestors {parent}"),
    );
    let mut response = gangway_assets::page(&headers);
    let set = response.headers_mut();
    if let Ok(policy) = policy.parse() {
        set.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in [CROSS_ORIGIN, SHARES_NOTHING] {
        set.insert(name, axum::http::HeaderValue::from_static(value));
    }
    let frames = axum::http::HeaderValue::from_static("SAMEORIGIN");
    set.insert(header::X_FRAME_OPTIONS, frames);
    Ok(response)
}

/// A panel's ticket.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PanelTicket {
    /// The one-time secret from the panel's URL.
    pub ticket: String,
    /// The origin from the panel's URL, the only one that can embed it.
    pub origin: String,
}

/// Get the chat of a panel
#[utoipa::path(post, path = "/api/panel", tag = "pages", request_body = PanelTicket, responses(
    (status = 200, body = PanelInfo),
    (status = 404, description = "The ticket was used, or the chat is closed", body = ApiError),
))]
pub(super) async fn enter_panel(
    State(agent): State<Arc<WebAgent>>,
    Json(ticket): Json<PanelTicket>,
) -> ApiResult<axum::Json<PanelInfo>> {
    let found = agent.sites.panel(&ticket.ticket, &ticket.origin);
    found.map(axum::Json).ok_or_else(no_chat)
}

/// Close the chat that a panel shows
#[utoipa::path(delete, path = "/api/panel/{id}", tag = "pages", params(("id" = String, Path, description = "The chat")), responses(
    (status = 204, description = "Closed; its page is notified"),
    (status = 404, body = ApiError),
))]
pub(super) async fn close_panel(
    State(agent): State<Arc<WebAgent>>,
    Extension(admitted): Extension<Admitted>,
    Id(id): Id,
) -> ApiResult<StatusCode> {
    let session = match admitted {
        Admitted::Panel(session) => Some(session),
        // The extension shows its own panels.
        admitted if admitted.may(&agent.http, Scope::Admin) => None,
        _ => return Err(no_chat()),
    };
    let visit = agent.sites.visit_with_chat(&id, session);
    let visit = visit.ok_or_else(no_chat)?;
    match agent.close_panel(&visit, &id).await {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(no_chat()),
    }
}

fn no_chat() -> ApiError {
    let message = "this chat is closed; its page can open another";
    ApiError::new(StatusCode::NOT_FOUND, "chat_not_found", message)
}
