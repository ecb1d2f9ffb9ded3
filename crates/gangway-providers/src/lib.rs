//! The user's models: configured from settings, environment and secrets, and monitored while the server runs.

mod activity;
mod config;
mod pulls;
mod routes;
pub mod setup;
mod weights;
pub mod wire;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

pub use config::{
    EmbeddedConfig, ModelsConfig, ProviderConfig, ProviderKind, Settings, is_base_url,
};
use gangway_http::metrics::{ChatLabels, Metrics, Tokens};
use gangway_models::{
    Choice,
    registry::{Instance, Outcome, Registry, RequestEnd},
    weights::WeightsStore,
};
use gangway_secrets::{SecretName, SecretStore, Secrets};
pub use routes::{Documented, routes};
use secrecy::ExposeSecret;
pub use setup::ModelAccess;
use tokio_util::sync::CancellationToken;

/// Interval of detecting local providers.
const WATCH: Duration = Duration::from_secs(10);

/// The user's models.
pub struct Models {
    /// The providers, and the default model.
    pub registry: Arc<Registry>,
    /// The API keys of providers.
    pub secrets: Secrets,
    /// Local weights.
    pub store: WeightsStore,
    embedded: gangway_embedded::Embedded,
    pulls: pulls::Pulls,
    config: Settings,
    access: ModelAccess,
    own: SocketAddr,
    /// The folder of the weights and the chosen default.
    folder: PathBuf,
    /// The last logged problem with unreadable files, so that it is logged once.
    reported: Mutex<Option<String>>,
}

impl Models {
    /// The models of this data folder.
    #[must_use]
    pub fn new(
        config: &Settings,
        data: &Path,
        secrets: Secrets,
        access: ModelAccess,
        own: SocketAddr,
        metrics: &Arc<Metrics>,
    ) -> Arc<Self> {
        let folder = data.join("models");
        let store = WeightsStore::new(&folder);
        let embedded = activity::embedded(&store, &config.models.embedded, &access);
        let counted = Arc::clone(metrics);
        let registry = Registry::new(Arc::new(embedded.clone()), move |ended| {
            count(&counted, ended)
        });
        let models = Arc::new(Self {
            registry: Arc::new(registry),
            secrets,
            store,
            embedded,
            pulls: pulls::Pulls::default(),
            config: config.clone(),
            access,
            own,
            folder,
            reported: Mutex::default(),
        });
        models.reload_sources(false);
        models
    }

    /// Whether weights are being downloaded.
    #[must_use]
    pub fn is_fetching(&self) -> bool {
        self.pulls.progress().is_some()
    }

    /// Applies changes by commands: keys and the default.
    pub async fn reload(self: &Arc<Self>) {
        let models = Arc::clone(self);
        // Files are quick to read; a keyring may block for its owner.
        tokio::task::spawn_blocking(move || models.reload_sources(true))
            .await
            .ok();
    }

    /// The same; `asking` allows access to a keyring. It is not accessed before anything is served, nor repeatedly: a
    /// locked one prompts its owner each time.
    fn reload_sources(&self, asking: bool) {
        let asking = asking || self.config.secrets == SecretStore::File;
        let known: BTreeMap<String, String> = match asking {
            true => BTreeMap::new(),
            false => self.keys_in_use(),
        };
        let mut problem = None;
        let choice = Choice::read(&self.folder).unwrap_or_else(|error| {
            problem = Some(format!("cannot read the default model: {error}"));
            None
        });
        let choice = choice
            .map(|choice| choice.model)
            .or_else(|| self.config.models.default.clone());
        let specs = setup::specs(&self.config, &self.access, self.own, |name| {
            if !asking {
                return known.get(name).cloned();
            }
            let key = SecretName::parse(name).and_then(|name| self.secrets.get(&name));
            key.map(|key| key.map(|key| key.expose_secret().to_owned()))
                .unwrap_or_else(|error| {
                    problem = Some(error.to_string());
                    None
                })
        });
        self.registry.set_up(specs, choice);
        let mut message = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if *message != problem {
            *message = problem;
            if let Some(problem) = &*message {
                tracing::warn!(problem, "cannot read the settings of models");
            }
        }
    }

    /// The current API keys of providers.
    fn keys_in_use(&self) -> BTreeMap<String, String> {
        let instances = self.registry.instances();
        let key = |one: &Arc<Instance>| Some((one.spec.key_name.clone()?, one.spec.key.clone()?));
        instances.iter().filter_map(key).collect()
    }

    /// The variables of the environment, with the current keys of providers from any source.
    #[must_use]
    pub fn access_now(&self) -> ModelAccess {
        let mut access = self.access.clone();
        access.keys.extend(self.keys_in_use());
        access
    }

    /// The address this server listens on.
    #[must_use]
    pub fn own(&self) -> SocketAddr {
        self.own
    }

    /// Applies changes by commands in files, without accessing a keyring.
    async fn reload_files(self: &Arc<Self>) {
        let models = Arc::clone(self);
        tokio::task::spawn_blocking(move || models.reload_sources(false))
            .await
            .ok();
    }

    /// Detects local providers periodically until the server stops.
    pub async fn watch(self: &Arc<Self>, stop: CancellationToken) {
        let look = async {
            self.reload().await;
            loop {
                self.registry.detect().await;
                tokio::time::sleep(WATCH).await;
                self.reload_files().await;
            }
        };
        stop.run_until_cancelled(look).await;
    }
}

fn count(metrics: &Metrics, ended: &RequestEnd<'_>) {
    let provider = ended.provider.to_owned();
    let outcome = match ended.outcome {
        Outcome::Done => "done",
        Outcome::Cancelled => "cancelled",
        Outcome::Failed(failure) => failure.code(),
    };
    let chat = ChatLabels {
        provider: provider.clone(),
        outcome,
    };
    metrics.chats.get_or_create(&chat).inc();
    for (direction, amount) in [("read", ended.input), ("written", ended.output)] {
        let tokens = Tokens {
            provider: provider.clone(),
            direction,
        };
        metrics.tokens.get_or_create(&tokens).inc_by(amount);
    }
}
