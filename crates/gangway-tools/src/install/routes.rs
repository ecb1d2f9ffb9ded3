//! Installs, for pages and programs.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use gangway_http::{
    access::{Rate, Scope, scope},
    error::{ApiError, ApiResult},
    extract::{self, Id},
    routes::Routes,
};
use gangway_secrets::SecretsError;

use super::{order::Refusal, uninstall::NotKept};
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

/// List the installs that go on, and the last that ended
#[utoipa::path(get, path = "/api/mcp/installs", tag = "tools", responses((status = 200, body = InstallList)))]
async fn list(State(state): State<Arc<ToolsState>>) -> Json<InstallList> {
    Json(InstallList {
        installs: state.tools.installs.list(),
    })
}

/// Install a server
#[utoipa::path(post, path = "/api/mcp/installs", tag = "tools", request_body = InstallServer, responses(
    (status = 202, body = Install),
    (status = 400, description = "Something is missing or does not fit", body = ApiError),
    (status = 404, description = "The catalog has no such server", body = ApiError),
    (status = 409, description = "The name is taken, or a program is missing", body = ApiError),
))]
async fn begin(
    State(state): State<Arc<ToolsState>>,
    extract::Json(wish): extract::Json<InstallServer>,
) -> ApiResult<(StatusCode, Json<Install>)> {
    let install = state.tools.install(wish).await.map_err(refused)?;
    Ok((StatusCode::ACCEPTED, Json(install)))
}

/// Look at an install
#[utoipa::path(get, path = "/api/mcp/installs/{id}", tag = "tools", params(("id" = String, Path, description = "The install")), responses(
    (status = 200, body = Install),
    (status = 404, body = ApiError),
))]
async fn look(State(state): State<Arc<ToolsState>>, Id(id): Id) -> ApiResult<Json<Install>> {
    let found = state.tools.installs.get(&id);
    found.map(Json).ok_or_else(|| no_install(&id))
}

/// Cancel an install that goes on, or forget one that ended
#[utoipa::path(delete, path = "/api/mcp/installs/{id}", tag = "tools", params(("id" = String, Path, description = "The install")), responses(
    (status = 204, description = "It ends and undoes what it did, or is forgotten"),
    (status = 404, body = ApiError),
))]
async fn end(State(state): State<Arc<ToolsState>>, Id(id): Id) -> ApiResult<StatusCode> {
    match state.tools.installs.end(&id) {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(no_install(&id)),
    }
}

/// Keep new values for secrets of a server, and start it anew
#[utoipa::path(put, path = "/api/mcp/servers/{id}/secrets", tag = "tools", params(("id" = String, Path, description = "The server")), request_body = SetSecrets, responses(
    (status = 204, description = "They are kept, and the server starts anew"),
    (status = 400, description = "It has no such secret, or a value cannot be one", body = ApiError),
    (status = 404, body = ApiError),
))]
async fn set_secrets(
    State(state): State<Arc<ToolsState>>,
    Id(id): Id,
    extract::Json(wish): extract::Json<SetSecrets>,
) -> ApiResult<StatusCode> {
    let kept = state.tools.set_secrets(&id, wish.secrets).await;
    kept.map_err(|error| match &error {
        NotKept::NoServer(_) => {
            ApiError::new(StatusCode::NOT_FOUND, "server_not_found", error.to_string())
        }
        NotKept::Unknown { .. }
        | NotKept::Secret(SecretsError::BadName(_) | SecretsError::BadValue(_)) => {
            ApiError::invalid(error.to_string())
        }
        NotKept::Secret(error) => {
            tracing::error!(%error, "a secret cannot be kept");
            let message = "the secret cannot be kept; the server's log says why";
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "storage_failed", message)
        }
    })?;
    Ok(StatusCode::NO_CONTENT)
}

fn no_install(id: &str) -> ApiError {
    let id: String = id.chars().take(80).collect();
    let message = format!("there is no install {id:?}; GET /api/mcp/installs lists them");
    ApiError::new(StatusCode::NOT_FOUND, "install_not_found", message)
}

fn refused(refusal: Refusal) -> ApiError {
    let message = refusal.to_string();
    match refusal {
        Refusal::Invalid(_) => ApiError::invalid(message),
        Refusal::NoServer(_) => {
            ApiError::new(StatusCode::NOT_FOUND, "catalog_server_not_found", message)
        }
        Refusal::Taken(_) | Refusal::Underway(_) => {
            ApiError::new(StatusCode::CONFLICT, "server_exists", message)
        }
        Refusal::NoRuntime(_) => ApiError::new(StatusCode::CONFLICT, "runtime_missing", message),
        Refusal::Busy => ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_installs", message)
            .retry_after(5),
        Refusal::Catalog(error) => error.into(),
    }
}
