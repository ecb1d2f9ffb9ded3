//! The header that identifies the client.

use axum::http::HeaderMap;

/// Sent by the browser extension's bridge, so that the audit log can name it. Pages cannot send it.
pub const EXTENSION: (&str, &str) = ("x-gangway-client", "extension");

#[must_use]
pub fn is_extension(headers: &HeaderMap) -> bool {
    let value = headers.get(EXTENSION.0);
    value.is_some_and(|value| value == EXTENSION.1)
}
