//! What the models are doing: chats, tokens a second, memory.

use std::sync::Arc;

use axum::{Json, extract::State};
#[cfg(feature = "embedded")]
use gangway_embedded::Settings;
use gangway_models::{Provider, weights::Shelf};

use super::{
    ModelAccess,
    wire::{EmbeddedActivity, ModelActivity},
};
use crate::{config::EmbeddedConfig, server::App};

/// The provider inside this process, if this build has one and the processor can run it.
pub(super) struct Embedded {
    #[cfg(feature = "embedded")]
    engine: Option<Arc<gangway_embedded::Embedded>>,
}

impl Embedded {
    #[cfg(feature = "embedded")]
    pub(super) fn new(shelf: &Shelf, config: &EmbeddedConfig, access: &ModelAccess) -> Self {
        let settings = Settings {
            trial: access
                .program
                .clone()
                .map(|own| vec![own, crate::cli::TRY_WEIGHTS.into()]),
            threads: config.threads,
            context_tokens: config.context_tokens,
            idle: std::time::Duration::from_secs(config.idle_seconds),
            parallel: config.parallel,
            ..Settings::default()
        };
        let engine = gangway_embedded::Embedded::new(shelf.clone(), settings);
        let engine = engine.map(Arc::new).map_err(|reason| {
            tracing::warn!(%reason, "embedded models cannot run on this machine");
        });
        Self {
            engine: engine.ok(),
        }
    }

    #[cfg(not(feature = "embedded"))]
    pub(super) fn new(_: &Shelf, _: &EmbeddedConfig, _: &ModelAccess) -> Self {
        Self {}
    }

    pub(super) fn provider(&self) -> Option<Arc<dyn Provider>> {
        #[cfg(feature = "embedded")]
        return self
            .engine
            .clone()
            .map(|engine| engine as Arc<dyn Provider>);
        #[cfg(not(feature = "embedded"))]
        None
    }

    fn activity(&self) -> Option<EmbeddedActivity> {
        #[cfg(feature = "embedded")]
        return self.engine.as_ref().map(|engine| {
            let status = engine.status();
            EmbeddedActivity {
                loaded: status.loaded,
                memory_bytes: status.memory_bytes,
                active: status.active,
                waiting: status.waiting,
                reused_tokens: status.reused_tokens,
            }
        });
        #[cfg(not(feature = "embedded"))]
        None
    }
}

/// What the models were doing in the last minute
#[utoipa::path(get, path = "/api/models/activity", tag = "models", responses((status = 200, body = ModelActivity)))]
pub async fn activity(State(app): State<Arc<App>>) -> Json<ModelActivity> {
    let activity = app.models.registry.activity();
    let memory = memory_stats::memory_stats();
    Json(ModelActivity {
        active: activity.active,
        tokens: activity.tokens,
        memory_bytes: memory.map(|memory| memory.physical_mem as u64),
        embedded: app.models.embedded.activity(),
    })
}
