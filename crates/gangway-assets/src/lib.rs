//! The pages and scripts embedded in the binary.

use std::borrow::Cow;

use axum::{
    http::{HeaderMap, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use rust_embed::{EmbeddedFile, RustEmbed};

use gangway_http::cors::open_to_all;

/// The output of `make web`.
#[derive(RustEmbed)]
#[folder = "../../web/ui/dist"]
#[allow_missing = true]
struct Ui;

/// Our own pages load only from this origin, embed only applets and the apps at these URLs, and cannot be embedded.
#[must_use]
pub fn page_policy(frames: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self' data:; connect-src 'self'; font-src 'self'; \
         frame-src 'self' {frames}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

/// The client library and style of applets, which load them in frames without an origin.
const LIBRARY: [&str; 3] = ["applet.js", "applet.global.js", "applet.css"];

const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Gangway</title>\
    <h1>Gangway is running</h1><p>This build has no pages in it. Build them with <code>make web</code> and start again, \
    or use <code>make run</code>, which does both.</p><p>The API is there: <a href=\"/api/docs\">/api/docs</a>.</p></html>";

/// The chat page.
#[must_use]
pub fn page(request: &HeaderMap) -> Response {
    match Ui::get("index.html") {
        Some(file) => serve("index.html", file, request),
        None => (StatusCode::OK, Html(NOT_BUILT)).into_response(),
    }
}

/// An embedded file by path.
#[must_use]
pub fn file(path: &str, request: &HeaderMap) -> Option<Response> {
    let answer = serve(path, Ui::get(path)?, request);
    Some(match LIBRARY.contains(&path) {
        true => (open_to_all(), answer).into_response(),
        false => answer,
    })
}

/// The text of an embedded file.
#[must_use]
pub fn text(path: &str) -> Option<Cow<'static, str>> {
    match Ui::get(path)?.data {
        Cow::Borrowed(bytes) => str::from_utf8(bytes).ok().map(Cow::Borrowed),
        Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
    }
}

fn serve(path: &str, file: EmbeddedFile, request: &HeaderMap) -> Response {
    let tag: String = file
        .metadata
        .sha256_hash()
        .iter()
        .take(12)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let tag = format!("\"{tag}\"");
    // Names under assets/ contain a content hash.
    let cache = if path.starts_with("assets/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let headers = [
        (header::ETAG, tag.clone()),
        (header::CACHE_CONTROL, cache.to_owned()),
    ];
    if request
        .get(header::IF_NONE_MATCH)
        .is_some_and(|known| known.as_bytes() == tag.as_bytes())
    {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    let kind = match file.metadata.mimetype() {
        text if text.starts_with("text/") => format!("{text}; charset=utf-8"),
        other => other.to_owned(),
    };
    (
        headers,
        [(header::CONTENT_TYPE, kind)],
        file.data.into_owned(),
    )
        .into_response()
}
