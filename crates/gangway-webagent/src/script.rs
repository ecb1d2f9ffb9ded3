//! The script that pages include, with the URL of this server.

use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use gangway_http::{Http, cors::CROSS_ORIGIN};

/// Placeholder for the server's origin in the script.
const PLACE: &str = "__GANGWAY_ORIGIN__";

/// The script for the pages of apps, which run on other hosts and cannot tell where Gangway's own is. `host` is the
/// first configured host.
pub fn script_for_apps(http: &Http, host: Option<&str>) -> Option<Response> {
    let text = gangway_assets::text("gangway.js")?;
    let text = text.replacen(PLACE, &own_origin(http, host), 1);
    let kind = (header::CONTENT_TYPE, "text/javascript; charset=utf-8");
    let cache = (header::CACHE_CONTROL, "no-cache");
    Some(([kind, cache, CROSS_ORIGIN], text).into_response())
}

/// The origin of our own pages, as reachable by a browser with an open app.
fn own_origin(http: &Http, host: Option<&str>) -> String {
    match host {
        Some(host) => format!("{}://{host}", http.addresses.scheme()),
        None => {
            let port = http.own_url.rsplit(':').next().unwrap_or_default();
            format!("http://localhost:{port}")
        }
    }
}
