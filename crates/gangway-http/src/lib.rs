//! What every HTTP protocol of Gangway shares. Depends on `gangway-core` and on no protocol.
//!
//! - [`asks`]: open requests to the person
//! - [`access`]: who may use a route and how much they may send; [`routes`]: routes that cannot be added without such a rule
//! - [`auth`]: keys, logins, and the guard that every request passes
//! - [`app_address`]: the origins of apps
//! - [`extract`]: extractors for bodies, queries and ids; [`error`]: the error envelope
//! - [`finish`]: headers, counts and fallbacks of all responses
//! - [`feed`]: a session's events as snapshots, frames, history and SSE
//! - [`socket`]: WebSocket connections: the loop that serves them, their rate limits and endings
//! - [`approval`], [`client_header`], [`metrics`], [`limits`], [`cors`], [`html`]: what their names say

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
pub mod routes;
pub mod socket;

use std::{sync::Arc, time::Instant};

use app_address::AppAddresses;
use auth::{Guard, Keys, Logins, Panels, Signer};
use axum::http::HeaderValue;
pub use limits::LimitsConfig;
use metrics::Metrics;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// What every protocol over HTTP uses while the server runs.
pub struct Http {
    /// The settings `limits`.
    pub limits: LimitsConfig,
    /// Checks requests.
    pub guard: Guard,
    /// The API keys.
    pub keys: Keys,
    /// The browsers that are logged in.
    pub logins: Logins,
    /// The chat panels that are open on pages.
    pub panels: Panels,
    /// Signs what browsers bring back.
    pub signer: Signer,
    /// The origins of apps.
    pub addresses: AppAddresses,
    /// Where a browser on this machine finds this server.
    pub own_url: String,
    /// Where other machines' browsers find our pages: under the first of `hosts` over TLS, or as on this machine.
    pub pages_url: String,
    /// The content security policy of our own pages.
    pub page_policy: HeaderValue,
    /// Counters and gauges.
    pub metrics: Arc<Metrics>,
    /// Tasks of upgraded connections: a stop waits until each has sent its close frame.
    pub sockets: TaskTracker,
    /// Cancelled when the server begins to stop.
    pub stop: CancellationToken,
}

impl Http {
    /// A link that logs a browser in; it works once, for ten minutes.
    #[must_use]
    pub fn login_link(&self) -> String {
        self.link(&self.logins.code(Instant::now()))
    }

    /// The link for a login code.
    #[must_use]
    pub fn link(&self, code: &str) -> String {
        // Browsers send nothing behind a `#`, so that the code is in no server's log.
        format!("{}/#login={code}", self.own_url)
    }
}
