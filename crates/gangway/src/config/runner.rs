//! The server's settings as passed to the runner of a remote agent.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use gangway_providers::{ModelAccess, Models};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Config;

/// Contain API keys, so they are sent over the private socket only.
#[derive(Clone, Serialize, Deserialize)]
pub struct RunnerSettings {
    pub config: Config,
    pub data: PathBuf,
    /// Model settings from the environment, with the keys of all providers.
    pub access: ModelAccess,
    /// The server's own address, excluded from the search for local models.
    pub own: SocketAddr,
}

impl RunnerSettings {
    #[must_use]
    pub fn of(config: &Config, data: &Path, models: &Models) -> Self {
        Self {
            config: config.clone(),
            data: data.to_owned(),
            access: models.access_now(),
            own: models.own(),
        }
    }

    /// Returns a function that creates current settings for each runner.
    pub fn source(
        config: &Config,
        data: &Path,
        models: &Arc<Models>,
    ) -> impl Fn() -> serde_json::Result<Value> + Send + Sync + 'static {
        let (config, models) = (config.clone(), Arc::clone(models));
        let data = std::path::absolute(data).unwrap_or_else(|_| data.to_owned());
        move || Self::of(&config, &data, &models).to_json()
    }

    pub fn to_json(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }
}
