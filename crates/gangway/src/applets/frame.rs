//! The document that an applet runs in: no origin of ours, no network, nothing of the chat in reach.

use axum::{
    http::{HeaderMap, HeaderName, StatusCode, header},
    response::{Html, IntoResponse, Response},
};

use super::Applet;
use crate::{
    docs::escape,
    error::{ApiError, ApiResult},
    files::{FileError, FilePath, media_type},
};

/// The document of an applet.
pub(super) async fn document(applet: &Applet, headers: &HeaderMap) -> ApiResult<Response> {
    if let Some(problem) = &applet.problem {
        let message = format!("{} cannot be opened: {problem}", applet.name);
        return Err(ApiError::new(
            StatusCode::CONFLICT,
            "applet_broken",
            message,
        ));
    }
    let content = applet.file(&named("content.html")?).await;
    let content = content.map_err(|error| missing(&error))?;
    let has = async |name: &str| match named(name) {
        Ok(path) => applet.file(&path).await.is_ok(),
        Err(_) => false,
    };
    let files = format!("/applets/{}/files", applet.slug);
    let style = match has("style.css").await {
        true => format!("<link rel=\"stylesheet\" href=\"{files}/style.css\">"),
        false => String::new(),
    };
    let script = match has("script.js").await {
        true => format!("<script type=\"module\" src=\"{files}/script.js\"></script>"),
        false => String::new(),
    };
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{}</title>\
         <script type=\"importmap\">{{\"imports\":{{\"gangway\":\"/applet.js\"}}}}</script>\
         <script type=\"module\" src=\"/applet.js\"></script>{style}</head><body>\n{}\n{script}</body></html>",
        escape(&applet.name),
        String::from_utf8_lossy(&content),
    );
    let answer = [
        (header::CONTENT_SECURITY_POLICY, policy(headers)),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN".to_owned()),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
    ];
    Ok((answer, Html(page)).into_response())
}

/// A file of an applet, for its own frame. That has no origin, so that every origin is as good.
pub(super) async fn file(applet: &Applet, path: &str) -> ApiResult<Response> {
    let content = applet.file(&named(path)?).await;
    let content = content.map_err(|error| missing(&error))?;
    let kind = media_type(path);
    let answer = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-cache"),
        // Alone in a window it is nothing but data.
        (
            header::CONTENT_SECURITY_POLICY,
            "sandbox; default-src 'none'",
        ),
    ];
    Ok((open_to_all(), answer, content).into_response())
}

/// Headers of what frames without an origin may load.
#[must_use]
pub fn open_to_all() -> [(HeaderName, &'static str); 2] {
    [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "cross-origin",
        ),
    ]
}

/// What the document may do: run its own scripts. Nothing leads out of it but the port that its host gives it.
fn policy(headers: &HeaderMap) -> String {
    // In a frame without an origin, not every browser takes `'self'` for the server; the guard has checked the name.
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let own = host.map_or_else(
        || "'self'".to_owned(),
        |host| format!("'self' http://{host} https://{host}"),
    );
    format!(
        "sandbox allow-scripts allow-forms allow-modals allow-downloads; default-src 'none'; \
         script-src 'unsafe-inline' blob: {own}; worker-src blob:; style-src 'unsafe-inline' {own}; \
         img-src data: blob: {own}; font-src data: {own}; media-src data: blob: {own}; connect-src 'none'; \
         form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
    )
}

fn named(path: &str) -> ApiResult<FilePath> {
    path.parse().map_err(|error| missing(&error))
}

fn missing(error: &FileError) -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "file_not_found", error.to_string())
}
