//! The settings of the guard.

use crate::limits::LimitsConfig;

/// An API of a shipped app, reached by its pages on the app's own host.
#[derive(Debug, Clone, Copy)]
pub struct AppApi {
    pub app: &'static str,
    /// The path prefix.
    pub prefix: &'static str,
}

pub struct GuardSettings<'a> {
    /// Additional host names of this server.
    pub hosts: &'a [String],
    /// Additional origins whose pages may use the API.
    pub allowed_origins: &'a [String],
    /// Origins whose pages may embed remote agents.
    pub embed_origins: &'a [String],
    /// Whether a request needs a login or a key.
    pub required: bool,
    pub limits: &'a LimitsConfig,
    /// APIs on the hosts of apps.
    pub app_apis: &'static [AppApi],
}
