//! Sessions over REST, SSE and WebSocket.

mod feed;
mod history;
mod manage;
mod messages;
mod stream;
pub mod wire;

use std::sync::Arc;

use axum::{extract::FromRequestParts, http::request::Parts};
use gangway_core::{Session, SessionId};
use gangway_http::{
    access::{Rate, Scope, scope},
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::Id,
    routes::Routes,
};

use crate::app::App;

#[must_use]
pub fn routes() -> Routes<Arc<App>> {
    Routes::new()
        .get("/api/sessions", scope(Scope::Chat), manage::list)
        .post("/api/sessions", scope(Scope::Chat).json(), manage::create)
        .get("/api/session", scope(Scope::Chat), manage::last)
        .get(
            "/api/sessions/{id}",
            scope(Scope::Chat).panel(),
            manage::show,
        )
        .patch(
            "/api/sessions/{id}",
            scope(Scope::Chat).json(),
            manage::update,
        )
        .delete("/api/sessions/{id}", scope(Scope::Chat), manage::delete)
        .get("/api/agents", scope(Scope::Chat), manage::agents)
        .post(
            "/api/sessions/{id}/messages",
            scope(Scope::Chat).json().panel(),
            messages::post,
        )
        .post(
            "/api/sessions/{id}/stop",
            scope(Scope::Chat).panel(),
            messages::stop,
        )
        .post(
            "/api/sessions/{id}/answers",
            scope(Scope::Chat).json().panel(),
            messages::answer,
        )
        .get(
            "/api/sessions/{id}/events",
            scope(Scope::Chat).panel().rate(Rate::Messages),
            feed::events,
        )
        .get("/api/stream/{streamId}", scope(Scope::Chat), stream::stream)
        .get("/api/history", scope(Scope::Chat), history::history)
        .get(
            "/api/sessions/{id}/export",
            scope(Scope::Chat),
            history::export,
        )
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(
    manage::list,
    manage::create,
    manage::last,
    manage::show,
    manage::update,
    manage::delete,
    manage::agents,
    messages::post,
    messages::stop,
    messages::answer,
    feed::events,
    stream::stream,
    history::history,
    history::export,
))]
pub(crate) struct Documented;

fn session_id(text: &str) -> ApiResult<SessionId> {
    text.parse().map_err(|_| ApiError::no_session(text))
}

async fn open(app: &App, id: SessionId) -> ApiResult<Arc<Session>> {
    Ok(app.hub.open(id).await?)
}

/// The session id in a path; rejects one that the caller may not use.
pub(crate) struct SessionPath(pub SessionId);

impl FromRequestParts<Arc<App>> for SessionPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> ApiResult<Self> {
        let Id(id) = Id::from_request_parts(parts, app).await?;
        let id = session_id(&id)?;
        let admitted = parts.extensions.get::<Admitted>();
        let admitted = admitted.unwrap_or(&Admitted::Anyone);
        admitted.check_session(&app.http, &app.hub, id).await?;
        Ok(Self(id))
    }
}
