//! Model activity: chats, tokens per second, memory.

use std::{sync::Arc, time::Duration};

use axum::{Json, extract::State};
use gangway_embedded::{Availability, Embedded, Program, Settings};
use gangway_models::weights::WeightsStore;

use super::{
    ModelAccess, Models,
    wire::{EmbeddedActivity, EngineState, ModelActivity},
};
use crate::config::EmbeddedConfig;

/// The provider of local models.
pub(super) fn embedded(
    store: &WeightsStore,
    config: &EmbeddedConfig,
    access: &ModelAccess,
) -> Embedded {
    let settings = Settings {
        threads: config.threads,
        context_tokens: config.context_tokens,
        idle: Duration::from_secs(config.idle_seconds),
        parallel: config.parallel,
        ..Settings::default()
    };
    let program = match &access.engine {
        Some(path) => Program::new(path),
        None => Program::beside(&std::env::current_exe().unwrap_or_default()),
    };
    Embedded::new(store.clone(), settings, program)
}

fn embedded_activity(embedded: &Embedded) -> EmbeddedActivity {
    let status = embedded.status();
    let engine = match embedded.availability() {
        Availability::Ready => EngineState::Ready,
        Availability::Building => EngineState::Building,
        Availability::Missing => EngineState::Missing,
        Availability::Unsupported(_) => EngineState::Unsupported,
    };
    EmbeddedActivity {
        engine,
        loaded: status.loaded,
        memory_bytes: status.memory_bytes,
        active: status.active,
        waiting: status.waiting,
        reused_tokens: status.reused_tokens,
    }
}

/// Get the model activity of the last minute
#[utoipa::path(get, path = "/api/models/activity", tag = "models", responses((status = 200, body = ModelActivity)))]
pub async fn activity(State(models): State<Arc<Models>>) -> Json<ModelActivity> {
    let activity = models.registry.activity();
    let memory = memory_stats::memory_stats();
    Json(ModelActivity {
        active: activity.active,
        tokens: activity.tokens,
        memory_bytes: memory.map(|memory| memory.physical_mem as u64),
        embedded: embedded_activity(&models.embedded),
    })
}
