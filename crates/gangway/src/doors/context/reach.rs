//! What the page of an app reaches of this server beside its own files.

use std::sync::Arc;

use axum::{
    extract::Request,
    http::{HeaderMap, StatusCode, Uri},
    middleware::Next,
    response::{IntoResponse, Response},
};
use gangway_core::SessionId;
use gangway_http::error::ApiError;

use super::{cookies::cookies, entry::may_load, host::token};
use crate::{launches::Admission, server::App};

/// Lets a page of an app offer itself to agents, if it may be there at all.
pub(super) async fn to_relay(
    app: &Arc<App>,
    found: &Arc<gangway_apps::App>,
    mut request: Request,
    next: Next,
) -> Response {
    let chat = launched_from(app, found, request.uri(), request.headers()).await;
    if chat.is_none() && !may_load(app, found, request.headers()) {
        let message = "only pages of an app that an agent launched, or that a logged-in browser opened, may join the relay";
        return ApiError::new(StatusCode::UNAUTHORIZED, "launch_required", message).into_response();
    }
    let page = gangway_relay::AppPage {
        app: found.name.to_string(),
        chat,
    };
    request.extensions_mut().insert(page);
    next.run(request).await
}

/// The chat that a page was launched from, if this is the browser that it was opened in.
async fn launched_from(
    app: &Arc<App>,
    found: &gangway_apps::App,
    uri: &Uri,
    headers: &HeaderMap,
) -> Option<SessionId> {
    let token = token(uri).flatten()?;
    let cookies = cookies(headers, app.http.addresses.cookie());
    if cookies.is_empty() {
        return None;
    }
    match app.admit(&token, &found.name, &cookies).await {
        // With a cookie to set, nobody has opened it yet.
        Ok(Admission::Opened(opened)) if opened.cookie.is_none() => Some(opened.launch.session),
        _ => None,
    }
}
