//! The relay's door: `/agent/ws`, where pages and external agents meet.

mod connection;
pub mod manage;
mod readable;
mod rights;
mod studies;
mod study;
pub mod wire;

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Query, State, WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    http::StatusCode,
    response::Response,
};
use gangway_http::{
    access::{Rate, Scope, TokenKind, scope, token},
    auth::Admitted,
    error::{ApiError, ApiResult},
    routes::Routes,
    socket::PROTOCOL,
};
use gangway_relay::{AppPage, SOCKET};

use crate::server::App;

/// What a connection gathers before it writes.
const WRITE: usize = 16 << 10;

/// Routes for whoever evaluates studies, and whoever runs the server.
#[must_use]
pub fn routes() -> Routes<Arc<App>> {
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
))]
pub(crate) struct Documented;

/// For clients that can be given nothing but a URL.
#[derive(serde::Deserialize)]
struct UrlToken {
    token: Option<String>,
}

async fn open(
    State(app): State<Arc<App>>,
    Extension(admitted): Extension<Admitted>,
    page: Option<Extension<AppPage>>,
    Query(query): Query<UrlToken>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> ApiResult<Response> {
    let upgrade = upgrade.map_err(|_| {
        let message = "this address takes WebSockets of version 13 alone";
        ApiError::new(StatusCode::UPGRADE_REQUIRED, "bad_upgrade", message)
    })?;
    let page = page.map(|Extension(page)| page);
    let caller = connection::Caller {
        admitted,
        page,
        token: query.token,
    };
    let most = app.config.relay.message_bytes;
    Ok(upgrade
        .protocols([PROTOCOL])
        .read_buffer_size(4096)
        .write_buffer_size(WRITE)
        // Twice what is taken: a message that is somewhat too large is answered, and the connection lives on.
        .max_message_size(2 * most)
        .max_frame_size(2 * most)
        .on_upgrade(move |socket| {
            let feeds = app.http.sockets.clone();
            feeds.track_future(connection::run(app, caller, socket))
        }))
}
