//! The sessions door: make sessions, talk to their agents over REST, follow them over SSE or WebSocket.

mod feed;
mod history;
mod manage;
mod messages;
mod stream;
pub mod wire;

use std::sync::Arc;

use gangway_core::{Session, SessionId};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    error::{ApiError, ApiResult},
    server::App,
};

/// Routes for pages, scripts and people's own programs.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(manage::list, manage::create))
        .routes(routes!(manage::show, manage::update, manage::delete))
        .routes(routes!(manage::agents))
        .routes(routes!(messages::post))
        .routes(routes!(messages::stop))
        .routes(routes!(messages::answer))
        .routes(routes!(feed::events))
        .routes(routes!(stream::stream))
        .routes(routes!(history::history))
        .routes(routes!(history::export))
}

fn session_id(text: &str) -> ApiResult<SessionId> {
    text.parse().map_err(|_| ApiError::no_session(text))
}

async fn open(app: &App, id: &str) -> ApiResult<Arc<Session>> {
    Ok(app.hub.open(session_id(id)?).await?)
}
