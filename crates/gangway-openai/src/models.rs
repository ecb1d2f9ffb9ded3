//! The list of models, by the names that clients use.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use gangway_http::{
    error::{ApiError, ApiResult},
    extract::Id,
};
use gangway_models::registry::{Model, Registry};

use super::wire::{ErrorBody, ModelEntry, ModelList};

/// List the models
#[utoipa::path(get, path = "/v1/models", tag = "openai", responses((status = 200, body = ModelList)))]
pub async fn list(State(registry): State<Arc<Registry>>) -> Json<ModelList> {
    let models = registry.list().await;
    Json(ModelList {
        object: "list",
        data: models.into_iter().map(entry).collect(),
    })
}

/// Get a model
#[utoipa::path(get, path = "/v1/models/{*id}", tag = "openai", params(("id" = String, Path, description = "`provider/model`")),
    responses((status = 200, body = ModelEntry), (status = 404, body = ErrorBody)))]
pub async fn show(
    State(registry): State<Arc<Registry>>,
    Id(id): Id,
) -> ApiResult<Json<ModelEntry>> {
    let models = registry.list().await;
    let found = models.into_iter().find(|model| model.id() == id);
    found.map(|model| Json(entry(model))).ok_or_else(|| {
        ApiError::new(
            StatusCode::NOT_FOUND,
            "model_not_found",
            "model not found; GET /v1/models lists all models",
        )
    })
}

fn entry(model: Model) -> ModelEntry {
    ModelEntry {
        id: model.id(),
        object: "model",
        created: 0,
        owned_by: model.provider,
    }
}
