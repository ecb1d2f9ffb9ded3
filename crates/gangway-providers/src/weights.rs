//! API of local weights: list, download, remove.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use gangway_http::{
    error::{ApiError, ApiResult},
    extract::{self, Id},
};
use gangway_models::{
    Choice,
    weights::{Puller, WeightsError, WeightsSource, WeightsUrl, catalog::known},
};

use super::{
    Models,
    pulls::Refusal,
    wire::{CatalogInfo, PullInfo, PullStep, PullWeights, WeightsInfo, WeightsList},
};

/// List local and downloadable weights
#[utoipa::path(get, path = "/api/weights", tag = "models", responses((status = 200, body = WeightsList)))]
pub async fn list(State(models): State<Arc<Models>>) -> ApiResult<Json<WeightsList>> {
    let store = models.store.clone();
    let here = tokio::task::spawn_blocking(move || store.list()).await;
    let here = here.unwrap_or_else(|_| Ok(Vec::new())).map_err(|error| {
        tracing::error!(%error, "cannot read the folder with weights");
        let message = "cannot read the folder with weights; see the server's log";
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
        pulls: models.pulls.list(),
    }))
}

/// Download weights by name from the catalog, or a GGUF file by URL
#[utoipa::path(post, path = "/api/weights", tag = "models", request_body = PullWeights, responses(
    (status = 202, description = "The download was started", body = PullInfo),
    (status = 400, description = "Invalid URL", body = ApiError),
    (status = 404, description = "Not in the catalog", body = ApiError),
    (status = 409, description = "The name is used by other weights", body = ApiError),
    (status = 429, description = "Too many downloads", body = ApiError),
))]
pub async fn pull(
    State(models): State<Arc<Models>>,
    extract::Json(request): extract::Json<PullWeights>,
) -> ApiResult<(StatusCode, Json<PullInfo>)> {
    let wanted = wanted(&models, request)?;
    let name = wanted.name().to_string();
    let conflict =
        |code, error: WeightsError| ApiError::new(StatusCode::CONFLICT, code, error.to_string());
    // With a hash it may be the same file, which is checked first.
    if matches!(&wanted, WeightsSource::Url(url) if url.sha256().is_none())
        && models.store.find(&name).is_ok_and(|found| found.is_some())
    {
        return Err(conflict("weights_exist", WeightsError::Taken(name)));
    }
    let index = std::env::var("PIP_INDEX_URL").ok();
    let index = index.filter(|url| !url.trim().is_empty());
    let puller = Puller::new(index.as_deref()).map_err(refused)?;
    let registry = Arc::clone(&models.registry);
    let done = move || {
        tokio::spawn(async move { registry.detect().await });
    };
    let begun = models
        .pulls
        .begin(wanted, models.store.clone(), puller, done);
    let info = begun.map_err(|refusal| match refusal {
        Refusal::Busy => conflict("weights_busy", WeightsError::Busy(name)),
        Refusal::Full => {
            let message = "too many downloads; wait until one is done";
            ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_pulls", message)
        }
    })?;
    Ok((StatusCode::ACCEPTED, Json(info)))
}

/// The weights of a request. A client's URL makes this server download from anywhere, so the route requires the scope
/// `admin`, whose holder can do the same at the command line.
fn wanted(models: &Models, request: PullWeights) -> ApiResult<WeightsSource> {
    match (request.name, request.url, request.sha256) {
        (Some(name), None, None) => {
            let mut catalog = known().map_err(refused)?.into_iter();
            let found = catalog.find(|known| known.name.as_str() == name);
            let found = found.map(WeightsSource::Known);
            found
                .or_else(|| models.pulls.wanted(&name))
                .ok_or_else(|| not_here(&name))
        }
        (None, Some(url), sha256) => WeightsUrl::parse(&url, sha256.as_deref())
            .map(WeightsSource::Url)
            .map_err(|error| ApiError::invalid(error.to_string())),
        _ => Err(ApiError::invalid(
            "specify the `name` of weights in the catalog, or the `url` of a file, optionally with its `sha256`",
        )),
    }
}

/// Remove weights, or cancel their download
#[utoipa::path(delete, path = "/api/weights/{name}", tag = "models", params(("name" = String, Path, description = "The model")), responses(
    (status = 204, description = "Removed or cancelled"),
    (status = 404, body = ApiError),
))]
pub async fn remove(State(models): State<Arc<Models>>, Id(name): Id) -> ApiResult<StatusCode> {
    let pull = models.pulls.cancel(&name);
    let is_over = |step: PullStep| matches!(step, PullStep::Done | PullStep::Failed);
    if pull.is_some_and(|step| !is_over(step)) {
        return Ok(StatusCode::NO_CONTENT);
    }
    let found = match models.store.find(&name).ok().flatten() {
        Some(found) => found,
        // There was only a failure to remove.
        None if pull == Some(PullStep::Failed) => return Ok(StatusCode::NO_CONTENT),
        None => return Err(not_here(&name)),
    };
    models.store.remove(&found.name).map_err(refused)?;
    // A removed default would fail every turn.
    let name = format!("embedded/{}", found.name);
    let chosen = Choice::read(&models.folder).ok().flatten();
    if chosen.is_some_and(|choice| choice.model == name) {
        let _ = Choice::remove(&models.folder);
    }
    models.reload().await;
    models.registry.detect().await;
    Ok(StatusCode::NO_CONTENT)
}

fn not_here(name: &str) -> ApiError {
    let name: String = name.chars().take(80).collect();
    let message = format!("weights {name:?} not found; GET /api/weights lists all weights");
    ApiError::new(StatusCode::NOT_FOUND, "weights_not_found", message)
}

fn refused(error: WeightsError) -> ApiError {
    ApiError::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "weights_failed",
        error.to_string(),
    )
}
