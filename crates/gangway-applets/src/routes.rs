//! Routes of applets: list, consent, frames and files, and the WebSocket.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use gangway_core::{SessionId, Slug};
use gangway_http::{
    access::{Rate, Scope, TokenKind, scope, token},
    error::{ApiError, ApiResult},
    extract::{self, Id},
    routes::Routes,
};

use crate::{
    Applet, AppletService, consent, frame, socket,
    wire::{AppletConsentList, AppletInfo, AppletList, SetAppletConsent},
};

#[must_use]
pub fn routes() -> Routes<Arc<AppletService>> {
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
        .get(
            "/ws/applet",
            scope(Scope::Chat).url_token().rate(Rate::Messages),
            socket::open,
        )
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(list, speakers, decide,))]
pub struct Documented;

/// List the applets
#[utoipa::path(get, path = "/api/applets", tag = "applets", responses((status = 200, body = AppletList)))]
async fn list(State(service): State<Arc<AppletService>>) -> Json<AppletList> {
    let applets = service.registry.list().await.into_iter();
    let informed = applets.map(|applet| {
        let frame = frame_path(&service, &applet.slug);
        AppletInfo::new(applet, frame)
    });
    Json(AppletList {
        applets: informed.collect(),
    })
}

/// List the applets of a session with their consent
#[utoipa::path(get, path = "/api/sessions/{id}/applets", tag = "applets", params(("id" = String, Path, description = "The session")), responses(
    (status = 200, body = AppletConsentList),
    (status = 404, body = ApiError),
))]
async fn speakers(
    State(service): State<Arc<AppletService>>,
    Id(id): Id,
) -> ApiResult<Json<AppletConsentList>> {
    Ok(Json(consent::speakers(&service, session(&id)?).await?))
}

/// Decide whether an applet may send messages in a session
#[utoipa::path(put, path = "/api/sessions/{id}/applets/{slug}", tag = "applets", params(
    ("id" = String, Path, description = "The session"),
    ("slug" = String, Path, description = "The applet"),
), request_body = SetAppletConsent, responses(
    (status = 200, body = AppletConsentList),
    (status = 400, body = ApiError),
    (status = 404, body = ApiError),
))]
async fn decide(
    State(service): State<Arc<AppletService>>,
    Path((id, slug)): Path<(String, String)>,
    extract::Json(request): extract::Json<SetAppletConsent>,
) -> ApiResult<Json<AppletConsentList>> {
    let id = session(&id)?;
    let slug: Slug = slug
        .parse()
        .map_err(|error| ApiError::invalid(format!("`slug`: {error}")))?;
    consent::decide(&service, id, slug, request.speak).await?;
    Ok(Json(consent::speakers(&service, id).await?))
}

async fn document(
    State(service): State<Arc<AppletService>>,
    Path((slug, key)): Path<(String, String)>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    check_key(&service, &slug, &key)?;
    frame::document(&find(&service, &slug).await?, &key, &headers).await
}

async fn file(
    State(service): State<Arc<AppletService>>,
    Path((slug, key, path)): Path<(String, String, String)>,
) -> ApiResult<Response> {
    check_key(&service, &slug, &key)?;
    frame::file(&find(&service, &slug).await?, &path).await
}

/// Purpose of the signature in a frame's URL.
const FRAME: &str = "applet";

/// The URL of an applet's frame. The frame has no origin and can send neither login nor cookie: its signed URL
/// authorizes its files.
pub(crate) fn frame_path(service: &AppletService, slug: &Slug) -> String {
    format!(
        "/applets/{slug}/{}/frame",
        service.http.signer.sign(FRAME, slug.as_str())
    )
}

fn check_key(service: &AppletService, slug: &str, key: &str) -> ApiResult<()> {
    if service.http.signer.fits(FRAME, slug, key) {
        return Ok(());
    }
    let message = "invalid address of an applet's frame; open the applet from the chat";
    Err(ApiError::new(
        StatusCode::UNAUTHORIZED,
        "invalid_token",
        message,
    ))
}

async fn find(service: &AppletService, slug: &str) -> ApiResult<Applet> {
    let known = match slug.parse::<Slug>() {
        Ok(slug) => service.registry.find(&slug).await,
        Err(_) => None,
    };
    known.ok_or_else(|| {
        let slug: String = slug.chars().take(80).collect();
        let message = format!("applet {slug:?} not found; GET /api/applets lists all applets");
        ApiError::new(StatusCode::NOT_FOUND, "applet_not_found", message)
    })
}

fn session(id: &str) -> ApiResult<SessionId> {
    id.parse().map_err(|_| {
        let message = "session not found; GET /api/sessions lists all sessions";
        ApiError::new(StatusCode::NOT_FOUND, "session_not_found", message)
    })
}
