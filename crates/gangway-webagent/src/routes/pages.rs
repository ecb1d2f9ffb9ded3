//! What pages load: the script, the frame behind it, and the panel of a chat.

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

/// Any page may hold the broker: it shows nothing, and does only what was allowed to the page's origin.
const BROKER_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors *";

/// Lets pages that share nothing hold the frame.
const SHARES_NOTHING: (HeaderName, &str) = (
    HeaderName::from_static("cross-origin-embedder-policy"),
    "require-corp",
);

fn missing() -> ApiError {
    let message = "this build has no pages in it; build them with make web";
    ApiError::new(StatusCode::NOT_FOUND, "not_found", message)
}

/// The script that makes `window.ai` and `window.agent`.
pub async fn script(headers: HeaderMap) -> ApiResult<Response> {
    let file = gangway_assets::file("gangway.js", &headers).ok_or_else(missing)?;
    Ok(([CROSS_ORIGIN], file).into_response())
}

/// The frame that brokers.
pub async fn broker() -> Response {
    let policy = (header::CONTENT_SECURITY_POLICY, BROKER_POLICY);
    // A policy that names who may frame a page goes before this header where both are.
    let frames = (header::X_FRAME_OPTIONS, "SAMEORIGIN");
    let headers = [policy, frames, CROSS_ORIGIN, SHARES_NOTHING];
    (headers, Html(BROKER)).into_response()
}

/// What the frame does.
pub async fn broker_script(headers: HeaderMap) -> ApiResult<Response> {
    gangway_assets::file("broker.js", &headers).ok_or_else(missing)
}

/// For whom a panel is.
#[derive(Deserialize)]
pub struct For {
    r#for: Option<String>,
}

/// The panel of a chat: framed by the page that opened it, and by nobody else.
pub async fn panel(
    State(agent): State<Arc<WebAgent>>,
    Query(wish): Query<For>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let parent = wish.r#for.as_deref().and_then(Sites::parent);
    let parent = parent.ok_or_else(|| ApiError::invalid("`for` must be the origin of a page"))?;
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

/// What a panel was opened with.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PanelTicket {
    /// The secret in the panel's address; it is good once.
    pub ticket: String,
    /// The origin that the panel's address names, which alone may frame it.
    pub origin: String,
}

/// Learn which chat a panel shows
#[utoipa::path(post, path = "/api/panel", tag = "pages", request_body = PanelTicket, responses(
    (status = 200, body = PanelInfo),
    (status = 404, description = "The ticket was used, or the chat is closed", body = ApiError),
))]
pub(super) async fn enter_panel(
    State(agent): State<Arc<WebAgent>>,
    Json(wish): Json<PanelTicket>,
) -> ApiResult<axum::Json<PanelInfo>> {
    let found = agent.sites.panel(&wish.ticket, &wish.origin);
    found.map(axum::Json).ok_or_else(no_chat)
}

/// Close the chat that a panel shows
#[utoipa::path(delete, path = "/api/panel/{id}", tag = "pages", params(("id" = String, Path, description = "The chat")), responses(
    (status = 204, description = "It is closed, and its page knows"),
    (status = 404, body = ApiError),
))]
pub(super) async fn close_panel(
    State(agent): State<Arc<WebAgent>>,
    Extension(admitted): Extension<Admitted>,
    Id(id): Id,
) -> ApiResult<StatusCode> {
    let session = match admitted {
        Admitted::Panel(session) => Some(session),
        // The extension shows panels of its own.
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
