//! The script that pages include, and where it finds this server.

use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use gangway_http::{Http, cors::CROSS_ORIGIN};

/// What the script holds in place of the server's origin.
const PLACE: &str = "__GANGWAY_ORIGIN__";

/// The script for the pages of apps, which are not on Gangway's own host and cannot tell where that is. `host` is the first of the
/// configured hosts.
pub fn script_for_apps(http: &Http, host: Option<&str>) -> Option<Response> {
    let text = gangway_assets::text("gangway.js")?;
    let text = text.replacen(PLACE, &own_origin(http, host), 1);
    let kind = (header::CONTENT_TYPE, "text/javascript; charset=utf-8");
    let cache = (header::CACHE_CONTROL, "no-cache");
    Some(([kind, cache, CROSS_ORIGIN], text).into_response())
}

/// The origin of our own pages, as a browser with an app open reaches it.
fn own_origin(http: &Http, host: Option<&str>) -> String {
    match host {
        Some(host) => format!("{}://{host}", http.addresses.scheme()),
        None => {
            let port = http.own_url.rsplit(':').next().unwrap_or_default();
            format!("http://localhost:{port}")
        }
    }
}
