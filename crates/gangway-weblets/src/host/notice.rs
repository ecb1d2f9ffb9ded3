//! Error pages on the hosts of apps.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};

use gangway_http::html::escape;

/// Light and dark.
const STYLE: &str = "html{color-scheme:light dark;background:#fff;color:#17202b}\
    body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem}\
    h1{font-size:1.4rem}a,a:visited{color:#1a56c8}\
    @media(prefers-color-scheme:dark){html{background:#111418;color:#e6ebf0}a,a:visited{color:#86b0ff}}";

pub(super) fn notice(
    status: StatusCode,
    title: &str,
    message: &str,
    back: Option<&str>,
) -> Response {
    let link = back.map(|url| {
        format!(
            "<p><a href=\"{}\">Open the app without an agent</a></p>",
            escape(url)
        )
    });
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title>\
         <style>{STYLE}</style>\
         <h1>{title}</h1><p>{}</p>{}</html>",
        escape(message),
        link.unwrap_or_default(),
    );
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors *; base-uri 'none'; form-action 'none'";
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let mut response = (status, headers, Html(page)).into_response();
    response.headers_mut().insert(
        header::X_FRAME_OPTIONS,
        HeaderValue::from_static("SAMEORIGIN"),
    );
    response
}
