//! The relay's door: `/agent/ws`, where pages and external agents meet.

mod connection;
pub mod manage;
mod readable;
mod studies;
mod study;
pub mod wire;

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::{State, WebSocketUpgrade, ws::rejection::WebSocketUpgradeRejection},
    http::StatusCode,
    response::Response,
    routing::get,
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    auth::Admitted,
    error::{ApiError, ApiResult},
    relay::{AppPage, SOCKET},
    server::App,
};

/// What a connection gathers before it writes.
const WRITE: usize = 16 << 10;

/// Routes for whoever evaluates studies, and whoever runs the server.
pub fn documented() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(studies::list))
        .routes(routes!(studies::events))
        .routes(routes!(studies::summary))
        .routes(routes!(studies::csv))
        .routes(routes!(studies::jsonl))
        .routes(routes!(manage::list))
        .routes(routes!(manage::make_token, manage::remove_token))
}

/// The socket.
pub fn sockets() -> Router<Arc<App>> {
    Router::new().route(SOCKET, get(open))
}

async fn open(
    State(app): State<Arc<App>>,
    Extension(Admitted(key)): Extension<Admitted>,
    page: Option<Extension<AppPage>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> ApiResult<Response> {
    let upgrade = upgrade.map_err(|_| {
        let message = "this address takes WebSockets of version 13 alone";
        ApiError::new(StatusCode::UPGRADE_REQUIRED, "bad_upgrade", message)
    })?;
    let page = page.map(|Extension(page)| page);
    let caller = connection::Caller { key, page };
    let most = app.config.relay.message_bytes;
    Ok(upgrade
        .read_buffer_size(4096)
        .write_buffer_size(WRITE)
        // Twice what is taken: a message that is somewhat too large is answered, and the connection lives on.
        .max_message_size(2 * most)
        .max_frame_size(2 * most)
        .on_upgrade(move |socket| {
            let feeds = app.feeds.clone();
            feeds.track_future(connection::run(app, caller, socket))
        }))
}
