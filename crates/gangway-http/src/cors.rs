//! Headers of what pages of any origin may load.

use axum::http::{HeaderName, header};

/// Lets a page of another origin load this.
pub const CROSS_ORIGIN: (HeaderName, &str) = (
    HeaderName::from_static("cross-origin-resource-policy"),
    "cross-origin",
);

/// Headers of what frames without an origin may load.
#[must_use]
pub fn open_to_all() -> [(HeaderName, &'static str); 2] {
    [(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"), CROSS_ORIGIN]
}
