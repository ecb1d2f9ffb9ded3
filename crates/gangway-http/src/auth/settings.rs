//! What the guard is set up with.

use crate::limits::LimitsConfig;

/// A part of the server that one of the shipped apps has for itself: its pages reach it on the app's own host.
#[derive(Debug, Clone, Copy)]
pub struct AppApi {
    /// The app's name.
    pub app: &'static str,
    /// What its paths begin with.
    pub prefix: &'static str,
}

/// The settings that the guard decides by.
pub struct GuardSettings<'a> {
    /// Further host names under which this server is reached.
    pub hosts: &'a [String],
    /// Further origins whose pages may use the API.
    pub allowed_origins: &'a [String],
    /// Origins whose pages may embed remote agents.
    pub embed_origins: &'a [String],
    /// Whether a request needs a login or a key.
    pub required: bool,
    /// Sizes and rates.
    pub limits: &'a LimitsConfig,
    /// The APIs on hosts of apps.
    pub app_apis: &'static [AppApi],
}
