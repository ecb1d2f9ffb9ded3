//! The document that an applet runs in: without our origin, without network, isolated from the chat.

use axum::{
    http::{HeaderMap, StatusCode, header},
    response::{AppendHeaders, Html, IntoResponse, Response},
};
use gangway_files::{FileError, FilePath, media_type};
use gangway_http::{
    cors::open_to_all,
    error::{ApiError, ApiResult},
    html::escape,
};

use crate::{Applet, confine};

/// The script that disables what headers cannot.
const CONFINE: &str = "confine.js";

pub(super) async fn document(
    applet: &Applet,
    key: &str,
    headers: &HeaderMap,
) -> ApiResult<Response> {
    if let Some(problem) = &applet.problem {
        let message = format!("{} cannot be opened: {problem}", applet.name);
        return Err(ApiError::new(
            StatusCode::CONFLICT,
            "applet_broken",
            message,
        ));
    }
    // The parent page restricts where the frame may navigate; a window of its own could navigate anywhere.
    if headers
        .get("sec-fetch-dest")
        .is_some_and(|dest| dest == "document")
    {
        let message = "an applet cannot be opened in its own window; open it from the chat";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "not_framed", message));
    }
    let confine = gangway_assets::text(CONFINE).ok_or_else(|| {
        let message = "this build contains no pages; build them with `make web` and restart";
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "not_built", message)
    })?;
    let content = applet.file(&named("content.html")?).await;
    let content = content.map_err(|error| missing(&error))?;
    let has = async |name: &str| match named(name) {
        Ok(path) => applet.file(&path).await.is_ok(),
        Err(_) => false,
    };
    let files = format!("/applets/{}/{key}/files", applet.slug);
    let style = match has("style.css").await {
        // Not as a link, which a script could point to another host.
        true => format!("<style>@import url(\"{files}/style.css\");</style>"),
        false => String::new(),
    };
    let script = match applet.file(&named("script.js")?).await {
        // A classic script if possible, so that inline handlers find its functions.
        Ok(source) => match is_module(source).await {
            true => format!("<script type=\"module\" src=\"{files}/script.js\"></script>"),
            false => format!("<script src=\"{files}/script.js\"></script>"),
        },
        Err(_) => String::new(),
    };
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{}</title><script>{}</script>\
         <script type=\"importmap\">{{\"imports\":{{\"gangway\":\"/applet.js\"}}}}</script>\
         <script src=\"/applet.global.js\"></script>{style}</head><body>\n{}\n{script}</body></html>",
        escape(&applet.name),
        confine.trim(),
        confine::without_ways_out(&String::from_utf8_lossy(&content)),
    );
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let answer = AppendHeaders(confine::headers(host, &files));
    Ok((answer, Html(page)).into_response())
}

/// A file of an applet, for its own frame. The frame has an opaque origin, so all origins are allowed.
pub(super) async fn file(applet: &Applet, path: &str) -> ApiResult<Response> {
    let content = applet.file(&named(path)?).await;
    let content = content.map_err(|error| missing(&error))?;
    let kind = media_type(path);
    let answer = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-cache"),
        // Opened in its own window it is inert.
        (
            header::CONTENT_SECURITY_POLICY,
            "sandbox; default-src 'none'",
        ),
    ];
    Ok((open_to_all(), answer, content).into_response())
}

async fn is_module(source: bytes::Bytes) -> bool {
    let look = move || gangway_apps::is_module(&String::from_utf8_lossy(&source));
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

fn named(path: &str) -> ApiResult<FilePath> {
    path.parse().map_err(|error| missing(&error))
}

fn missing(error: &FileError) -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "file_not_found", error.to_string())
}
