//! Routes of the server for one built-in app: available to its pages on their own host, and to no other app.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use gangway_apps::Origin;
use gangway_http::{
    access::Scope,
    app_address::AppRequest,
    auth::Admitted,
    error::{ApiError, ApiResult},
};

use super::{cookies::cookies, entry::is_logged_in};
use crate::{Weblets, token::Token};

/// Whether the requested path belongs to this app. An app in a folder of the same name has no access: it could be
/// anyone's.
pub(super) fn is_asked(weblets: &Weblets, found: &gangway_apps::App, asked: &AppRequest) -> bool {
    let shipped = found.origin == Origin::Builtin;
    shipped
        && !weblets.http.addresses.shared()
        && weblets.http.guard.is_app_api(&asked.app, &asked.path)
}

/// Whether launches of this app give access to such routes.
pub(super) fn has(weblets: &Weblets, found: &gangway_apps::App) -> bool {
    found.origin == Origin::Builtin && weblets.http.guard.app_api(&found.name).is_some()
}

/// Authenticates by API key, login, or opened launch.
pub(super) async fn admitted(
    weblets: &Arc<Weblets>,
    found: &gangway_apps::App,
    headers: &HeaderMap,
) -> ApiResult<Admitted> {
    let shown = weblets.http.guard.knows(&weblets.http, headers);
    if let Some(admitted) = shown.filter(|admitted| admitted.may(&weblets.http, Scope::Apps)) {
        return Ok(admitted);
    }
    if is_logged_in(weblets, found, headers) {
        return Ok(Admitted::Anyone);
    }
    let browsers = cookies(headers, weblets.http.addresses.cookie());
    for launch in cookies(headers, weblets.http.addresses.launch_cookie()) {
        let Ok(token) = launch.parse::<Token>() else {
            continue;
        };
        if weblets
            .launches
            .was_opened_by(&token, &found.name, &browsers)
            .await?
        {
            return Ok(Admitted::Anyone);
        }
    }
    let message =
        "send an API key, or open the app by a launch (gangway app run NAME, or from the chat)";
    Err(ApiError::new(
        StatusCode::UNAUTHORIZED,
        "missing_key",
        message,
    ))
}
