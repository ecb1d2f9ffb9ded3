//! Shared by every HTTP protocol of Gangway. Depends on `gangway-core` and on no protocol.
//!
//! - [`asks`]: open requests to the person
//! - [`access`]: access rules; [`routes`]: routes that cannot be added without a rule
//! - [`auth`]: keys, logins, and the guard that every request passes
//! - [`app_address`]: the origins of apps
//! - [`extract`]: extractors for bodies, queries and ids; [`error`]: the error envelope
//! - [`finish`]: headers, counts and fallbacks of all responses
//! - [`feed`]: a session's events as snapshots, frames, history and SSE
//! - [`socket`]: WebSocket connections: the serving loop, rate limits, close codes
//! - [`approval`], [`client_header`], [`metrics`], [`limits`], [`rate_limit`], [`cors`], [`html`]

pub mod access;
pub mod app_address;
pub mod approval;
pub mod asks;
pub mod auth;
pub mod client_header;
pub mod cors;
pub mod error;
pub mod extract;
pub mod feed;
pub mod finish;
pub mod html;
pub mod limits;
pub mod metrics;
pub mod rate_limit;
pub mod routes;
pub mod socket;

use std::{sync::Arc, time::Instant};

use app_address::AppAddresses;
use auth::{Guard, Keys, Logins, Panels, Signer};
use axum::http::HeaderValue;
pub use limits::LimitsConfig;
use metrics::Metrics;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// State shared by every HTTP protocol.
pub struct Http {
    pub limits: LimitsConfig,
    pub guard: Guard,
    pub keys: Keys,
    pub logins: Logins,
    /// Open chat panels.
    pub panels: Panels,
    /// Signs values that browsers send back.
    pub signer: Signer,
    pub addresses: AppAddresses,
    /// This server's URL for a browser on this machine.
    pub own_url: String,
    /// The URL of our pages for browsers on other machines: the first of `hosts` over TLS, or as on this machine.
    pub pages_url: String,
    pub page_policy: HeaderValue,
    pub metrics: Arc<Metrics>,
    /// Tasks of upgraded connections: shutdown waits until each has sent its close frame.
    pub sockets: TaskTracker,
    /// Cancelled when shutdown begins.
    pub stop: CancellationToken,
}

impl Http {
    /// A link that logs a browser in; it works once, for ten minutes.
    #[must_use]
    pub fn login_link(&self) -> String {
        self.link(&self.logins.code(Instant::now()))
    }

    #[must_use]
    pub fn link(&self, code: &str) -> String {
        // Browsers do not send the fragment, so the code is in no server's log.
        format!("{}/#login={code}", self.own_url)
    }
}
