//! API of providers, models, keys and the default model.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use gangway_http::{
    access::{Rate, Scope, scope},
    error::{ApiError, ApiResult},
    extract::{self, Id},
    routes::Routes,
};
use gangway_models::{
    Choice,
    registry::{Instance, Kind},
};
use gangway_secrets::{SecretName, Secrets, SecretsError, parse_value};

use super::{
    Models, activity, weights,
    wire::{DefaultModel, ModelInfo, ModelList, ProviderInfo, ProviderList, SetDefault, SetKey},
};

/// Maximum length of a model's name.
const NAME_CHARS: usize = 300;

/// Routes for the Models page and programs.
#[must_use]
pub fn routes() -> Routes<Arc<Models>> {
    Routes::new()
        .get("/api/providers", scope(Scope::Models), providers)
        .post("/api/providers/detect", scope(Scope::Admin), detect)
        .put(
            "/api/providers/{id}/key",
            scope(Scope::Admin).json(),
            set_key,
        )
        .delete("/api/providers/{id}/key", scope(Scope::Admin), remove_key)
        .get("/api/models", scope(Scope::Models), models)
        .put(
            "/api/models/default",
            scope(Scope::Admin).json(),
            set_default,
        )
        .get(
            "/api/models/activity",
            scope(Scope::Models),
            activity::activity,
        )
        .get("/api/weights", scope(Scope::Models), weights::list)
        .post(
            "/api/weights",
            scope(Scope::Admin).json().rate(Rate::Starts),
            weights::pull,
        )
        .delete("/api/weights/{name}", scope(Scope::Admin), weights::remove)
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(
    providers,
    detect,
    set_key,
    remove_key,
    models,
    set_default,
    activity::activity,
    weights::list,
    weights::pull,
    weights::remove,
))]
pub struct Documented;

/// List the model providers
#[utoipa::path(get, path = "/api/providers", tag = "models", responses((status = 200, body = ProviderList)))]
async fn providers(State(models): State<Arc<Models>>) -> Json<ProviderList> {
    // Listing the models checks whether remote providers are available.
    models.registry.list().await;
    Json(models.describe())
}

/// Detect local providers again
#[utoipa::path(post, path = "/api/providers/detect", tag = "models", responses((status = 200, body = ProviderList)))]
async fn detect(State(models): State<Arc<Models>>) -> Json<ProviderList> {
    models.reload().await;
    models.registry.detect().await;
    models.registry.list().await;
    Json(models.describe())
}

/// Store a provider's key
#[utoipa::path(put, path = "/api/providers/{id}/key", tag = "models", params(("id" = String, Path, description = "The provider")),
    request_body = SetKey, responses(
    (status = 200, body = ProviderInfo),
    (status = 400, body = ApiError),
    (status = 404, body = ApiError),
    (status = 409, description = "Its key comes from the environment", body = ApiError),
))]
async fn set_key(
    State(models): State<Arc<Models>>,
    Id(id): Id,
    extract::Json(request): extract::Json<SetKey>,
) -> ApiResult<Json<ProviderInfo>> {
    let name = key_name(&models, &id)?;
    let key = parse_value(&request.key.into()).map_err(refused)?;
    keep(&models, move |secrets| secrets.set(&name, &key)).await?;
    models.reload().await;
    models.registry.list().await;
    let all = models.describe().providers;
    let changed = all.into_iter().find(|one| one.id == id);
    changed.map(Json).ok_or_else(|| no_provider(&id))
}

/// Delete a provider's key
#[utoipa::path(delete, path = "/api/providers/{id}/key", tag = "models", params(("id" = String, Path, description = "The provider")), responses(
    (status = 204, description = "Deleted"),
    (status = 404, body = ApiError),
    (status = 409, description = "Its key comes from the environment", body = ApiError),
))]
async fn remove_key(State(models): State<Arc<Models>>, Id(id): Id) -> ApiResult<StatusCode> {
    let name = key_name(&models, &id)?;
    keep(&models, move |secrets| secrets.remove(&name).map(|_| ())).await?;
    models.reload().await;
    Ok(StatusCode::NO_CONTENT)
}

/// List the models of all available providers
#[utoipa::path(get, path = "/api/models", tag = "models", responses((status = 200, body = ModelList)))]
async fn models(State(models): State<Arc<Models>>) -> Json<ModelList> {
    let list = models.registry.list().await;
    let default = models.default();
    let is_default = |provider: &str, name: &str| {
        default.as_ref().is_some_and(|default| {
            default.provider == provider && default.model.as_deref() == Some(name)
        })
    };
    let models = list.into_iter().map(|model| ModelInfo {
        id: model.id(),
        is_default: is_default(&model.provider, &model.name),
        provider: model.provider,
        name: model.name,
    });
    Json(ModelList {
        models: models.collect(),
        default,
    })
}

/// Set the default model
#[utoipa::path(put, path = "/api/models/default", tag = "models", request_body = SetDefault, responses(
    (status = 200, body = ProviderList),
    (status = 400, body = ApiError),
))]
async fn set_default(
    State(models): State<Arc<Models>>,
    extract::Json(request): extract::Json<SetDefault>,
) -> ApiResult<Json<ProviderList>> {
    let failed = |error: std::io::Error| {
        tracing::error!(%error, "cannot store the default model");
        let message = "cannot store the default model; see the server's log";
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "storage_failed", message)
    };
    match request.model {
        Some(model) => {
            let head = model.split('/').next().unwrap_or_default();
            let known = models.registry.instances();
            let named = known.iter().any(|one| one.spec.id == head);
            if model.chars().count() > NAME_CHARS || !(named || Kind::from_name(head).is_some()) {
                let ids: Vec<_> = known.iter().map(|one| one.spec.id.as_str()).collect();
                return Err(ApiError::invalid(format!(
                    "`model` must be one of {}, optionally followed by a slash and a model",
                    ids.join(", ")
                )));
            }
            let folder = models.folder.clone();
            let write = move || Choice { model }.write(&folder);
            let written = tokio::task::spawn_blocking(write).await;
            written.unwrap_or_else(|e| Err(e.into())).map_err(failed)?;
        }
        None => {
            Choice::remove(&models.folder).map_err(failed)?;
        }
    }
    models.reload().await;
    Ok(Json(models.describe()))
}

impl Models {
    fn default(&self) -> Option<DefaultModel> {
        let (instance, model) = self.registry.default()?;
        let only = || match instance.models().as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        };
        Some(DefaultModel {
            provider: instance.spec.id.clone(),
            model: model.or_else(|| instance.spec.model.clone()).or_else(only),
        })
    }

    /// The current state of all providers.
    #[must_use]
    pub fn describe(&self) -> ProviderList {
        let default = self.default();
        let info = |one: &Arc<Instance>| {
            let is_default = default.as_ref().is_some_and(|d| d.provider == one.spec.id);
            self.info(one, is_default)
        };
        ProviderList {
            providers: self.registry.instances().iter().map(info).collect(),
            default: self.default(),
            choice: self.registry.choice(),
        }
    }

    fn info(&self, one: &Instance, is_default: bool) -> ProviderInfo {
        let spec = &one.spec;
        let embedded = spec.kind == Kind::Embedded;
        let own_name = spec.id == spec.kind.name();
        let name = if own_name {
            spec.kind.title()
        } else {
            &spec.id
        };
        let from_environment = |name: &String| self.access.keys.contains_key(name);
        let source = match &spec.key_name {
            Some(name) if from_environment(name) => Some("environment"),
            Some(_) if spec.key.is_some() => Some("secrets"),
            _ => None,
        };
        ProviderInfo {
            id: spec.id.clone(),
            kind: spec.kind.name().into(),
            name: name.to_owned(),
            available: one.is_available(),
            is_default,
            is_type_default: self.registry.is_kind_default(one),
            supports_tools: one.supports_tools(),
            is_native: false,
            runtime: "bridge".into(),
            download_required: embedded && one.models().is_empty(),
            download_progress: embedded.then(|| self.pulls.progress()).flatten(),
            base_url: spec.shown_url(),
            models: one.models().len(),
            key_name: spec.key_name.clone(),
            key_source: source.map(str::to_owned),
            problem: one.problem(),
        }
    }
}

/// The name of a provider's key, if it can be changed here.
fn key_name(models: &Models, id: &str) -> ApiResult<SecretName> {
    let known = models.registry.instances();
    let one = known.iter().find(|one| one.spec.id == id);
    let one = one.ok_or_else(|| no_provider(id))?;
    let Some(name) = &one.spec.key_name else {
        let message =
            "this provider uses no key; configure one with `key` under `providers` in config.yaml";
        return Err(ApiError::invalid(message));
    };
    if models.access.keys.contains_key(name) {
        let message =
            format!("the key comes from the environment variable {name}; change it there");
        return Err(ApiError::new(
            StatusCode::CONFLICT,
            "key_from_environment",
            message,
        ));
    }
    SecretName::parse(name).map_err(refused)
}

fn no_provider(id: &str) -> ApiError {
    let id: String = id.chars().take(80).collect();
    let message = format!("provider {id:?} not found; GET /api/providers lists all providers");
    ApiError::new(StatusCode::NOT_FOUND, "provider_not_found", message)
}

/// Changes the secrets off the runtime: a keyring may block for its owner.
async fn keep(
    models: &Arc<Models>,
    change: impl FnOnce(&Secrets) -> Result<(), SecretsError> + Send + 'static,
) -> ApiResult<()> {
    let models = Arc::clone(models);
    match tokio::task::spawn_blocking(move || change(&models.secrets)).await {
        Ok(changed) => changed.map_err(refused),
        Err(_) => Err(ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "server_error",
            "internal error; see Gangway's log",
        )),
    }
}

fn refused(error: SecretsError) -> ApiError {
    match error {
        SecretsError::BadName(_) | SecretsError::BadValue(_) => {
            ApiError::invalid(error.to_string())
        }
        _ => {
            // The location of the secrets is only for the owner of this machine.
            tracing::error!(%error, "cannot store a key");
            let message = "cannot store the key; see the server's log";
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "secrets_failed", message)
        }
    }
}
