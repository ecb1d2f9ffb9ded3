//! What paths mean to the guard.

use axum::http::{HeaderMap, StatusCode};
use gangway_core::AppName;

use super::guard::{Refusal, forbidden};
use crate::error::ApiError;

/// Where remote agents are.
const AGENTS: &str = "/api/remote_agents";

/// Whether a path is a root or below it.
pub(super) fn below(root: &str, path: &str) -> bool {
    path.strip_prefix(root)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a path on the host of an app is a part of the server that this app has for itself.
pub(crate) fn is_apps_own(app: &AppName, path: &str) -> bool {
    app.as_str() == "movie-booking" && below("/api/booking", path)
}

/// Whether a page of another site sent this, as browsers say it.
pub(super) fn comes_across(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").map(|value| value.as_bytes());
    matches!(site, Some(b"cross-site" | b"same-site"))
}

/// Whether it is about remote agents.
pub(super) fn is_remote(path: &str) -> bool {
    below(AGENTS, path)
}

/// Whether it belongs to one agent, whose own tokens let in and nothing else does.
pub(crate) fn is_agents_own(path: &str) -> bool {
    let rest = path.strip_prefix(AGENTS).and_then(|p| p.strip_prefix('/'));
    rest.is_some_and(|rest| {
        rest.split_once('/')
            .is_some_and(|(_, what)| !what.is_empty())
    })
}

/// Whether files are sent there as they are. Nobody can be made to send one unknowingly: a token goes with it.
pub(super) fn takes_files(path: &str) -> bool {
    is_agents_own(path) && (path.ends_with("/uploads") || path.ends_with("/transcribe"))
}

/// The same refusal, in the words that remote agents have for it.
pub(super) fn in_words_of_agents((reason, mut error): Refusal) -> Refusal {
    if error.status == StatusCode::UNAUTHORIZED.as_u16() {
        let code = match error.error_code.as_str() {
            "missing_key" => "missing_token",
            _ => "invalid_token",
        };
        error = ApiError::new(StatusCode::UNAUTHORIZED, code, error.message);
    }
    (reason, error)
}

/// Paths that are open to whoever reaches the server: how to log in, what the API is, where pages ask for leave, and
/// where agents are talked to, by tokens of their own.
pub(crate) fn is_open(path: &str) -> bool {
    is_agents_own(path)
        || matches!(
            path,
            "/api/login"
                | "/api/logout"
                | "/api/openapi.json"
                | "/api/docs"
                | "/api/docs.css"
                | crate::sites::SOCKET
        )
}

/// Refuses what a proxy passed on: whoever is behind it is not on this machine, which is why no key was asked for.
pub(super) fn check_near(headers: &HeaderMap) -> Result<(), Refusal> {
    let marks = [
        "forwarded",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x-real-ip",
    ];
    if !marks.iter().any(|mark| headers.contains_key(*mark)) {
        return Ok(());
    }
    Err((
        "proxy",
        forbidden(
            "proxy_not_configured",
            "this came through a proxy, but the server is set up for this machine alone; name the proxy's host under hosts, which makes API keys required",
        ),
    ))
}
