//! The part of the server that an app of ours has for itself: its pages reach it on their own host, and no other app does.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use gangway_core::AppName;

use super::{cookies::cookies, entry::is_logged_in};
use crate::{
    auth::{Admitted, access::Scope},
    launches::{Asked, Token},
    server::App,
};
use gangway_apps::Origin;
use gangway_http::error::{ApiError, ApiResult};

/// Whether a path on the host of an app is a part of the server that this app has for itself.
pub(crate) fn is_apps_own(app: &AppName, path: &str) -> bool {
    let rest = path.strip_prefix("/api/booking");
    app.as_str() == "movie-booking"
        && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether this app has the part of the server that is asked for. A folder of the same name has not: it may be anybody's.
pub(super) fn is_asked(app: &App, found: &gangway_apps::App, asked: &Asked) -> bool {
    let shipped = found.origin == Origin::Builtin;
    shipped && !app.addresses.shared() && is_apps_own(&asked.app, &asked.path)
}

/// Whether a launch of this app lets its pages use more than files.
pub(super) fn has(found: &gangway_apps::App) -> bool {
    found.origin == Origin::Builtin && is_apps_own(&found.name, "/api/booking")
}

/// Authenticates a request: a key, a browser that is logged in, or one that opened a launch.
pub(super) async fn admitted(
    app: &Arc<App>,
    found: &gangway_apps::App,
    headers: &HeaderMap,
) -> ApiResult<Admitted> {
    let shown = app.guard.knows(app, headers);
    if let Some(admitted) = shown.filter(|admitted| admitted.may(app, Scope::Apps)) {
        return Ok(admitted);
    }
    if is_logged_in(app, found, headers) {
        return Ok(Admitted::Anyone);
    }
    let browsers = cookies(headers, app.addresses.cookie());
    for launch in cookies(headers, app.addresses.launch_cookie()) {
        let Ok(token) = launch.parse::<Token>() else {
            continue;
        };
        if app.was_opened_by(&token, &found.name, &browsers).await? {
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
