//! Applets over HTTP: the list, their frames and files, and who may speak.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::Response,
    routing::get,
};
use gangway_core::{SessionId, Slug};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    Applet, frame, speak,
    wire::{AppletList, DecideSpeech, Speakers},
};
use crate::{
    error::{ApiError, ApiResult},
    extract::{self, Id},
    server::App,
};

/// Routes of the API.
pub fn documented() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(speakers))
        .routes(routes!(decide))
}

/// The frames and the files in them.
pub fn pages() -> Router<Arc<App>> {
    Router::new()
        .route("/applets/{slug}/frame", get(document))
        .route("/applets/{slug}/files/{*path}", get(file))
}

/// List the applets
#[utoipa::path(get, path = "/api/applets", tag = "applets", responses((status = 200, body = AppletList)))]
async fn list(State(app): State<Arc<App>>) -> Json<AppletList> {
    let applets = app.applets.list().await;
    Json(AppletList {
        applets: applets.into_iter().map(Into::into).collect(),
    })
}

/// List who can speak in a session beside the person
#[utoipa::path(get, path = "/api/sessions/{id}/applets", tag = "applets", params(("id" = String, Path, description = "The session")), responses(
    (status = 200, body = Speakers),
    (status = 404, body = ApiError),
))]
async fn speakers(State(app): State<Arc<App>>, Id(id): Id) -> ApiResult<Json<Speakers>> {
    Ok(Json(speak::speakers(&app, session(&id)?).await?))
}

/// Decide whether an applet may speak in a session
#[utoipa::path(put, path = "/api/sessions/{id}/applets/{slug}", tag = "applets", params(
    ("id" = String, Path, description = "The session"),
    ("slug" = String, Path, description = "The applet"),
), request_body = DecideSpeech, responses(
    (status = 200, body = Speakers),
    (status = 400, body = ApiError),
    (status = 404, body = ApiError),
))]
async fn decide(
    State(app): State<Arc<App>>,
    Path((id, slug)): Path<(String, String)>,
    extract::Json(wish): extract::Json<DecideSpeech>,
) -> ApiResult<Json<Speakers>> {
    let id = session(&id)?;
    let slug: Slug = slug
        .parse()
        .map_err(|error| ApiError::invalid(format!("`slug`: {error}")))?;
    speak::decide(&app, id, slug, wish.speak).await?;
    Ok(Json(speak::speakers(&app, id).await?))
}

async fn document(
    State(app): State<Arc<App>>,
    Path(slug): Path<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    frame::document(&find(&app, &slug).await?, &headers).await
}

async fn file(
    State(app): State<Arc<App>>,
    Path((slug, path)): Path<(String, String)>,
) -> ApiResult<Response> {
    frame::file(&find(&app, &slug).await?, &path).await
}

async fn find(app: &App, slug: &str) -> ApiResult<Applet> {
    let known = match slug.parse::<Slug>() {
        Ok(slug) => app.applets.find(&slug).await,
        Err(_) => None,
    };
    known.ok_or_else(|| {
        let slug: String = slug.chars().take(80).collect();
        let message = format!("there is no applet {slug:?}; GET /api/applets lists them");
        ApiError::new(StatusCode::NOT_FOUND, "applet_not_found", message)
    })
}

fn session(id: &str) -> ApiResult<SessionId> {
    id.parse().map_err(|_| {
        let message = "no session has this id; /api/sessions lists them";
        ApiError::new(StatusCode::NOT_FOUND, "session_not_found", message)
    })
}
