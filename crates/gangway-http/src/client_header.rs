//! Which client a request comes from, where it says so.

use axum::http::HeaderMap;

/// Sent with every request of the browser extension's bridge, so that the audit log can name it. Pages cannot send it.
pub const EXTENSION: (&str, &str) = ("x-gangway-client", "extension");

/// Whether a request comes from the browser extension's bridge.
#[must_use]
pub fn is_extension(headers: &HeaderMap) -> bool {
    let value = headers.get(EXTENSION.0);
    value.is_some_and(|value| value == EXTENSION.1)
}
