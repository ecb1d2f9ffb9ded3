//! The server's settings as the runner of a remote agent gets them.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use gangway_providers::{ModelAccess, Models};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Config;

/// Settings on their way to a runner. They hold keys, so they only ever travel over the private socket.
#[derive(Clone, Serialize, Deserialize)]
pub struct RunnerSettings {
    /// The settings of the server.
    pub config: Config,
    /// The data folder, with secrets, MCP servers and the note about the server.
    pub data: PathBuf,
    /// What the environment said about models, with the keys of all providers.
    pub access: ModelAccess,
    /// Where the server listens: nobody looks for models there.
    pub own: SocketAddr,
}

impl RunnerSettings {
    /// Those of a server, with the keys that its providers have now.
    #[must_use]
    pub fn of(config: &Config, data: &Path, models: &Models) -> Self {
        Self {
            config: config.clone(),
            data: data.to_owned(),
            access: models.access_now(),
            own: models.own(),
        }
    }

    /// Makes them anew for each runner.
    pub fn source(
        config: &Config,
        data: &Path,
        models: &Arc<Models>,
    ) -> impl Fn() -> serde_json::Result<Value> + Send + Sync + 'static {
        let (config, models) = (config.clone(), Arc::clone(models));
        let data = std::path::absolute(data).unwrap_or_else(|_| data.to_owned());
        move || Self::of(&config, &data, &models).to_json()
    }

    /// As they are part of a setup.
    pub fn to_json(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }
}
