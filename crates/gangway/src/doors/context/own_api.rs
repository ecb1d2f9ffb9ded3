//! The part of the server that an app of ours has for itself: its pages reach it on their own host, and no other app does.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};

use super::host::cookies;
use crate::{
    apps::{self, Origin},
    auth::{Admitted, is_apps_own},
    error::{ApiError, ApiResult},
    launches::{Asked, Token},
    server::App,
};

/// Whether this app has the part of the server that is asked for. A folder of the same name has not: it may be anybody's.
pub(super) fn is_asked(app: &App, found: &apps::App, asked: &Asked) -> bool {
    let shipped = found.origin == Origin::Builtin;
    shipped && !app.addresses.shared() && is_apps_own(&asked.app, &asked.path)
}

/// Whether a launch of this app lets its pages use more than files.
pub(super) fn has(found: &apps::App) -> bool {
    found.origin == Origin::Builtin && is_apps_own(&found.name, "/api/booking")
}

/// Who asks: whoever has a key where keys are needed, or a browser that came by a launch.
pub(super) async fn admitted(
    app: &Arc<App>,
    found: &apps::App,
    headers: &HeaderMap,
    path: &str,
) -> ApiResult<Admitted> {
    if let Some(admitted) = app.guard.knows(app, headers, path) {
        return Ok(admitted);
    }
    let browsers = cookies(headers, app.addresses.cookie());
    for launch in cookies(headers, app.addresses.launch_cookie()) {
        let Ok(token) = launch.parse::<Token>() else {
            continue;
        };
        if app.was_opened_by(&token, &found.name, &browsers).await? {
            return Ok(Admitted(None));
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
