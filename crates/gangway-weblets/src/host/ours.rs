//! Our own files and routes on the host of an app.

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, WebSocketUpgrade},
    http::{HeaderMap, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use gangway_http::{
    auth::Admitted,
    error::{ApiError, ApiResult},
    socket::Ending,
};

use super::{after, entry, replay, since, token};
use crate::{
    Weblets,
    socket::{page, reject},
    token::PageAccess,
};

/// Responds to a request below our prefix; shared packages are served with the files.
pub(super) async fn answer(
    weblets: &Arc<Weblets>,
    found: &Arc<gangway_apps::App>,
    name: String,
    mut parts: Parts,
) -> ApiResult<Response> {
    let missing = || {
        let message = "not found";
        ApiError::new(StatusCode::NOT_FOUND, "not_found", message)
    };
    if let Some(rest) = name.strip_prefix(replay::PATH) {
        return replay::file(weblets, found, rest, parts).await;
    }
    match name.as_str() {
        "enter" => entry::enter(weblets, found, &parts.uri, &parts.headers).ok_or_else(|| {
            let message = "this link has expired; open the app's address again";
            ApiError::new(StatusCode::GONE, "entry_expired", message)
        }),
        "data" | "ws" => {
            let token = token(&parts.uri).flatten().ok_or_else(missing)?;
            let proof = after(&parts.uri, "proof").unwrap_or_default();
            let (launch, why) = match weblets.launches.shown(&token, proof).await? {
                PageAccess::Page(launch) if launch.app == found.name => {
                    (Some(*launch), Ending::Gone)
                }
                PageAccess::Page(_) | PageAccess::Unknown => (None, Ending::Gone),
                PageAccess::Ended => (None, Ending::Expired),
            };
            if name == "data" {
                let launch = launch.ok_or_else(|| {
                    let message = "this launch has ended; launch the app again";
                    ApiError::new(StatusCode::GONE, "launch_ended", message)
                })?;
                let kind = [(header::CONTENT_TYPE, "application/json")];
                let json = serde_json::to_vec(&launch.data).unwrap_or_default();
                return Ok((kind, json).into_response());
            }
            let since = since(&parts.uri);
            let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, weblets).await;
            let weblets = Arc::clone(weblets);
            match launch {
                Some(launch) => page(weblets, launch, since, Admitted::Anyone, upgrade).await,
                None => reject(weblets, upgrade, why),
            }
        }
        _ => script(weblets, &name, &parts.headers).ok_or_else(missing),
    }
}

/// One of our scripts for pages of apps.
pub(super) fn script(weblets: &Weblets, name: &str, headers: &HeaderMap) -> Option<Response> {
    match name {
        "agent.js" | "agent.global.js" | "host.js" | "host.global.js" => {
            gangway_assets::file(name, headers)
        }
        _ => weblets.other_routes.script(name),
    }
}
