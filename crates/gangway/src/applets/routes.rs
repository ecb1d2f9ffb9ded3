//! Applets over HTTP: the list, their frames and files, and who may speak.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use gangway_core::{SessionId, Slug};
use gangway_http::{
    access::{Scope, TokenKind, scope, token},
    error::{ApiError, ApiResult},
    extract::{self, Id},
    routes::Routes,
};

use super::{
    Applet, frame, speak,
    wire::{AppletList, DecideSpeech, Speakers},
};
use crate::server::App;

/// Routes of the API.
#[must_use]
pub fn routes() -> Routes<Arc<App>> {
    Routes::new()
        .get("/api/applets", scope(Scope::Chat), list)
        .get("/api/sessions/{id}/applets", scope(Scope::Chat), speakers)
        .put(
            "/api/sessions/{id}/applets/{slug}",
            scope(Scope::Admin).json(),
            decide,
        )
        .get(
            "/applets/{slug}/{key}/frame",
            token(TokenKind::Frame).loaded(),
            document,
        )
        .get(
            "/applets/{slug}/{key}/files/{*path}",
            token(TokenKind::Frame).loaded(),
            file,
        )
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(list, speakers, decide,))]
pub(crate) struct Documented;

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
    Path((slug, key)): Path<(String, String)>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    check_key(&app, &slug, &key)?;
    frame::document(&find(&app, &slug).await?, &key, &headers).await
}

async fn file(
    State(app): State<Arc<App>>,
    Path((slug, key, path)): Path<(String, String, String)>,
) -> ApiResult<Response> {
    check_key(&app, &slug, &key)?;
    frame::file(&find(&app, &slug).await?, &path).await
}

/// What the signature in the address of an applet's frame is for.
const FRAME: &str = "applet";

/// Where the frame of an applet is. The frame has no origin, so it can show neither login nor cookie: its address is what
/// lets it load its files.
pub(crate) fn frame_path(app: &App, slug: &Slug) -> String {
    format!(
        "/applets/{slug}/{}/frame",
        app.http.signer.sign(FRAME, slug.as_str())
    )
}

fn check_key(app: &App, slug: &str, key: &str) -> ApiResult<()> {
    if app.http.signer.fits(FRAME, slug, key) {
        return Ok(());
    }
    let message = "this address of an applet's frame is not known; open the applet from the chat";
    Err(ApiError::new(
        StatusCode::UNAUTHORIZED,
        "invalid_token",
        message,
    ))
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
