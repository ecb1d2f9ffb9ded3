//! Detects cross-site and proxied requests.

use axum::http::HeaderMap;

use super::guard::{Refusal, forbidden};

/// Whether a page of another site sent this, by `Sec-Fetch-Site`.
pub(super) fn comes_across(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").map(|value| value.as_bytes());
    matches!(site, Some(b"cross-site" | b"same-site"))
}

/// Refuses proxied requests on a server that is set up for this machine only.
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
            "this request came through a proxy, but the server is set up for this machine only; add the proxy's host name to `hosts`",
        ),
    ))
}
