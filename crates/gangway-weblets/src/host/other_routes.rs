//! Routes of other protocols on the hosts of apps, and their authorization.

use std::sync::Arc;

use axum::{
    extract::Request,
    http::{HeaderMap, StatusCode, Uri},
    middleware::Next,
    response::{IntoResponse, Response},
};
use gangway_core::{AppName, SessionId};
use gangway_http::error::ApiError;

use super::{cookies::cookies, entry::may_load, token};
use crate::{Weblets, token::Admission};

/// Implemented by the server.
pub trait AppHostRoutes: Send + Sync {
    /// The path of the WebSocket for pages of apps.
    fn socket_path(&self) -> &str;

    /// Attaches the page's identity to a request for that WebSocket.
    fn identify(&self, request: &mut Request, page: AppPage);

    /// A script for pages of apps.
    fn script(&self, name: &str) -> Option<Response>;
}

/// A page of an app, on the app's own host.
#[derive(Debug, Clone)]
pub struct AppPage {
    pub app: AppName,
    /// The chat that it was launched from, if this browser opened it.
    pub chat: Option<SessionId>,
}

/// Authorizes a page of an app to connect.
pub(super) async fn to_socket(
    weblets: &Arc<Weblets>,
    found: &Arc<gangway_apps::App>,
    mut request: Request,
    next: Next,
) -> Response {
    let chat = launched_from(weblets, found, request.uri(), request.headers()).await;
    if chat.is_none() && !may_load(weblets, found, request.headers()) {
        let message = "only pages of an app that was launched by an agent or opened in a logged-in browser can join the relay";
        return ApiError::new(StatusCode::UNAUTHORIZED, "launch_required", message).into_response();
    }
    let page = AppPage {
        app: found.name.clone(),
        chat,
    };
    weblets.other_routes.identify(&mut request, page);
    next.run(request).await
}

/// The chat that a page was launched from, if this browser opened it.
async fn launched_from(
    weblets: &Arc<Weblets>,
    found: &gangway_apps::App,
    uri: &Uri,
    headers: &HeaderMap,
) -> Option<SessionId> {
    let token = token(uri).flatten()?;
    let cookies = cookies(headers, weblets.http.addresses.cookie());
    if cookies.is_empty() {
        return None;
    }
    match weblets.launches.admit(&token, &found.name, &cookies).await {
        // With a cookie to set, no browser has opened it yet.
        Ok(Admission::Opened(opened)) if opened.cookie.is_none() => Some(opened.launch.session),
        _ => None,
    }
}
