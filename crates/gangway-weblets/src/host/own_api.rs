//! The part of the server that an app of ours has for itself: its pages reach it on their own host, and no other app does.

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

/// Whether this app has the part of the server that is asked for. A folder of the same name has not: it may be anybody's.
pub(super) fn is_asked(weblets: &Weblets, found: &gangway_apps::App, asked: &AppRequest) -> bool {
    let shipped = found.origin == Origin::Builtin;
    shipped
        && !weblets.http.addresses.shared()
        && weblets.http.guard.is_app_api(&asked.app, &asked.path)
}

/// Whether a launch of this app lets its pages use more than files.
pub(super) fn has(weblets: &Weblets, found: &gangway_apps::App) -> bool {
    found.origin == Origin::Builtin && weblets.http.guard.app_api(&found.name).is_some()
}

/// Authenticates a request: a key, a browser that is logged in, or one that opened a launch.
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
