//! Headers of resources that any origin may load.

use axum::http::{HeaderName, header};

pub const CROSS_ORIGIN: (HeaderName, &str) = (
    HeaderName::from_static("cross-origin-resource-policy"),
    "cross-origin",
);

/// For resources that frames without an origin load.
#[must_use]
pub fn open_to_all() -> [(HeaderName, &'static str); 2] {
    [(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"), CROSS_ORIGIN]
}
