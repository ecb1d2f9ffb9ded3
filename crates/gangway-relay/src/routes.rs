//! Routes of the relay: the WebSocket `/agent/ws` for pages and external agents, studies, tokens.

pub mod invitations;
pub mod manage;
mod studies;

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Query, State},
    response::Response,
};
use gangway_http::{
    access::{Rate, Scope, TokenKind, scope, token},
    auth::Admitted,
    error::ApiResult,
    routes::Routes,
    socket::{Frames, UpgradeResult, accept, upgrade},
};

use crate::{AppPage, RelayState, SOCKET, socket};

#[must_use]
pub fn routes() -> Routes<Arc<RelayState>> {
    Routes::new()
        .get("/api/study", scope(Scope::Relay), studies::list)
        .get(
            "/api/study/{id}/events",
            scope(Scope::Relay),
            studies::events,
        )
        .get(
            "/api/study/{id}/summary",
            scope(Scope::Relay),
            studies::summary,
        )
        .get("/api/study/{id}/csv", scope(Scope::Relay), studies::csv)
        .get("/api/study/{id}/jsonl", scope(Scope::Relay), studies::jsonl)
        .get("/api/relay", scope(Scope::Relay), manage::list)
        .post(
            "/api/relay/tokens/{session}",
            scope(Scope::Admin),
            manage::make_token,
        )
        .delete(
            "/api/relay/tokens/{session}",
            scope(Scope::Admin),
            manage::remove_token,
        )
        .get(
            "/api/sessions/{id}/invitations",
            scope(Scope::Admin),
            invitations::list,
        )
        .post(
            "/api/sessions/{id}/invitations",
            scope(Scope::Admin).json(),
            invitations::invite,
        )
        .delete(
            "/api/sessions/{id}/invitations/{invitation}",
            scope(Scope::Admin),
            invitations::revoke,
        )
        .get(
            SOCKET,
            token(TokenKind::Relay).url_token().rate(Rate::Messages),
            open,
        )
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(
    studies::list,
    studies::events,
    studies::summary,
    studies::csv,
    studies::jsonl,
    manage::list,
    manage::make_token,
    manage::remove_token,
    invitations::list,
    invitations::invite,
    invitations::revoke,
))]
pub struct Documented;

/// For clients that can only be given a URL.
#[derive(serde::Deserialize)]
struct UrlToken {
    token: Option<String>,
}

async fn open(
    State(state): State<Arc<RelayState>>,
    Extension(admitted): Extension<Admitted>,
    page: Option<Extension<AppPage>>,
    Query(query): Query<UrlToken>,
    socket: UpgradeResult,
) -> ApiResult<Response> {
    let page = page.map(|Extension(page)| page);
    let caller = socket::Caller {
        admitted,
        page,
        token: query.token,
    };
    // Twice the limit: a message somewhat too large gets an error, and the connection stays open.
    let frames = Frames::of(2 * state.message_bytes);
    let (http, upgrade) = (Arc::clone(&state.http), upgrade(socket, frames)?);
    Ok(accept(&http, upgrade, move |socket| {
        socket::run(state, caller, socket)
    }))
}
