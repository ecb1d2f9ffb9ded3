//! The models of a remote agent: the server's providers, called directly.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures_util::future::BoxFuture;
use gangway_models::{ChatRequest, ChatStream, Choice, ModelError, Provider, registry::Registry};
use gangway_providers::setup;
use gangway_secrets::{SecretName, SecretStore, Secrets};
use secrecy::ExposeSecret;

use super::own_model::OwnModel;
use crate::config::RunnerSettings;

pub(super) struct RunnerModels {
    inner: Arc<Inner>,
}

struct Inner {
    registry: Registry,
    settings: RunnerSettings,
    secrets: Secrets,
    known: AtomicBool,
}

impl RunnerModels {
    /// Created lazily: HTTP clients take a while to create, and an agent should be ready at once.
    pub(super) fn new(settings: RunnerSettings, secrets: Secrets) -> Self {
        let tokens = settings.config.models.embedded.context_tokens;
        let own = OwnModel::new(settings.data.clone(), tokens);
        Self {
            inner: Arc::new(Inner {
                registry: Registry::new(Arc::new(own), |_| {}),
                settings,
                secrets,
                known: AtomicBool::new(false),
            }),
        }
    }

    /// Picks up changes made by commands: the default model, and API keys if they are quick to read.
    async fn registry(&self) -> &Registry {
        let inner = Arc::clone(&self.inner);
        // On failure the previous values stay.
        let _ = tokio::task::spawn_blocking(move || inner.reload_sources()).await;
        &self.inner.registry
    }
}

impl Inner {
    fn reload_sources(&self) {
        let RunnerSettings {
            config,
            data,
            access,
            own,
        } = &self.settings;
        let choice = match Choice::read(&data.join("models")) {
            Ok(choice) => choice.map(|choice| choice.model),
            Err(_) if self.known.load(Ordering::Acquire) => return,
            Err(_) => None,
        };
        let choice = choice.or_else(|| config.models.default.clone());
        let secret = |name: &str| {
            // A keyring may prompt the user; the server has already passed on the keys it knew.
            let quick = config.secrets == SecretStore::File;
            let name = SecretName::parse(name).ok().filter(|_| quick)?;
            let key = self.secrets.get(&name).ok()??;
            Some(key.expose_secret().to_owned())
        };
        let specs = setup::specs(&config.model_settings(), access, *own, secret);
        self.registry.set_up(specs, choice);
        self.known.store(true, Ordering::Release);
    }
}

impl Provider for RunnerModels {
    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, ModelError>> {
        Box::pin(async { self.registry().await.models().await })
    }

    fn window<'a>(&'a self, model: Option<&'a str>) -> BoxFuture<'a, Option<u64>> {
        Box::pin(async move { self.registry().await.window(model).await })
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatStream<'static>, ModelError>> {
        Box::pin(async move { self.registry().await.chat(request).await })
    }
}
