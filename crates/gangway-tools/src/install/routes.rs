//! API of installs.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use gangway_http::{
    access::{Rate, Scope, scope},
    error::{ApiError, ApiResult},
    extract::{self, Id},
    routes::Routes,
};
use gangway_secrets::SecretsError;

use super::{order::InstallRefusal, uninstall::SecretChangeError};
use crate::{
    ToolsState,
    catalog::wire::{Install, InstallList, InstallServer, SetSecrets},
};

/// Routes of installs.
#[must_use]
pub fn routes() -> Routes<Arc<ToolsState>> {
    Routes::new()
        .get("/api/mcp/installs", scope(Scope::Admin), list)
        .post(
            "/api/mcp/installs",
            scope(Scope::Admin).json().rate(Rate::Starts),
            begin,
        )
        .get("/api/mcp/installs/{id}", scope(Scope::Admin), look)
        .delete("/api/mcp/installs/{id}", scope(Scope::Admin), end)
        .put(
            "/api/mcp/servers/{id}/secrets",
            scope(Scope::Admin).json(),
            set_secrets,
        )
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(list, begin, look, end, set_secrets,))]
pub struct Documented;

/// List the running installs and the last ones that ended
#[utoipa::path(get, path = "/api/mcp/installs", tag = "tools", responses((status = 200, body = InstallList)))]
async fn list(State(state): State<Arc<ToolsState>>) -> Json<InstallList> {
    Json(InstallList {
        installs: state.tools.installs.list(),
    })
}

/// Install a server
#[utoipa::path(post, path = "/api/mcp/installs", tag = "tools", request_body = InstallServer, responses(
    (status = 202, body = Install),
    (status = 400, description = "Invalid request", body = ApiError),
    (status = 404, description = "Not in the catalog", body = ApiError),
    (status = 409, description = "The id is in use, or a program is missing", body = ApiError),
))]
async fn begin(
    State(state): State<Arc<ToolsState>>,
    extract::Json(request): extract::Json<InstallServer>,
) -> ApiResult<(StatusCode, Json<Install>)> {
    let install = state.tools.install(request).await.map_err(refused)?;
    Ok((StatusCode::ACCEPTED, Json(install)))
}

/// Get an install
#[utoipa::path(get, path = "/api/mcp/installs/{id}", tag = "tools", params(("id" = String, Path, description = "The install")), responses(
    (status = 200, body = Install),
    (status = 404, body = ApiError),
))]
async fn look(State(state): State<Arc<ToolsState>>, Id(id): Id) -> ApiResult<Json<Install>> {
    let found = state.tools.installs.get(&id);
    found.map(Json).ok_or_else(|| no_install(&id))
}

/// Cancel a running install, or remove an ended one
#[utoipa::path(delete, path = "/api/mcp/installs/{id}", tag = "tools", params(("id" = String, Path, description = "The install")), responses(
    (status = 204, description = "Cancelled and rolled back, or removed"),
    (status = 404, body = ApiError),
))]
async fn end(State(state): State<Arc<ToolsState>>, Id(id): Id) -> ApiResult<StatusCode> {
    match state.tools.installs.end(&id) {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(no_install(&id)),
    }
}

/// Set secrets of a server, and restart it
#[utoipa::path(put, path = "/api/mcp/servers/{id}/secrets", tag = "tools", params(("id" = String, Path, description = "The server")), request_body = SetSecrets, responses(
    (status = 204, description = "Stored; the server restarts"),
    (status = 400, description = "Unknown secret, or invalid value", body = ApiError),
    (status = 404, body = ApiError),
))]
async fn set_secrets(
    State(state): State<Arc<ToolsState>>,
    Id(id): Id,
    extract::Json(request): extract::Json<SetSecrets>,
) -> ApiResult<StatusCode> {
    let stored = state.tools.set_secrets(&id, request.secrets).await;
    stored.map_err(|error| match &error {
        SecretChangeError::NoServer(_) => {
            ApiError::new(StatusCode::NOT_FOUND, "server_not_found", error.to_string())
        }
        SecretChangeError::Unknown { .. }
        | SecretChangeError::Secret(SecretsError::BadName(_) | SecretsError::BadValue(_)) => {
            ApiError::invalid(error.to_string())
        }
        SecretChangeError::Secret(error) => {
            tracing::error!(%error, "cannot store a secret");
            let message = "cannot store the secret; see the server's log";
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "storage_failed", message)
        }
    })?;
    Ok(StatusCode::NO_CONTENT)
}

fn no_install(id: &str) -> ApiError {
    let id: String = id.chars().take(80).collect();
    let message = format!("install {id:?} not found; GET /api/mcp/installs lists all installs");
    ApiError::new(StatusCode::NOT_FOUND, "install_not_found", message)
}

fn refused(refusal: InstallRefusal) -> ApiError {
    let message = refusal.to_string();
    match refusal {
        InstallRefusal::Invalid(_) => ApiError::invalid(message),
        InstallRefusal::NoServer(_) => {
            ApiError::new(StatusCode::NOT_FOUND, "catalog_server_not_found", message)
        }
        InstallRefusal::Taken(_) | InstallRefusal::Underway(_) => {
            ApiError::new(StatusCode::CONFLICT, "server_exists", message)
        }
        InstallRefusal::NoRuntime(_) => {
            ApiError::new(StatusCode::CONFLICT, "runtime_missing", message)
        }
        InstallRefusal::Busy => {
            ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_installs", message)
                .retry_after(5)
        }
        InstallRefusal::Catalog(error) => error.into(),
    }
}
