//! Routes for projects and personas.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use gangway_core::Slug;
use gangway_http::{
    error::{ApiError, ApiResult},
    extract::{Id, Json},
};

use crate::{
    Registry, RegistryError, RemoteState, StoredIn,
    config::{PersonaConfig, ProjectConfig},
    read_persona,
    wire::{EmptyBody, PersonaInfo, PersonaList, ProjectInfo, ProjectList},
};

pub(super) fn registry_error(error: RegistryError) -> ApiError {
    let message = error.to_string();
    match error {
        RegistryError::InConfig(_) => ApiError::new(StatusCode::CONFLICT, "in_config", message),
        RegistryError::Wrong(_) => ApiError::invalid(message),
        RegistryError::Changed(_) => ApiError::new(StatusCode::CONFLICT, "conflict", message),
        RegistryError::Missing(_) => ApiError::new(StatusCode::NOT_FOUND, "not_found", message),
        RegistryError::Core(error) => error.into(),
    }
}

/// List the projects
#[utoipa::path(get, path = "/api/projects", tag = "agents", responses((status = 200, body = ProjectList)))]
pub async fn projects(State(state): State<Arc<RemoteState>>) -> ApiResult<axum::Json<ProjectList>> {
    Ok(axum::Json(list_projects(&state.remote.registry).await?))
}

pub async fn list_projects(registry: &Registry) -> gangway_core::Result<ProjectList> {
    let projects = registry.projects().await?.into_iter();
    let projects = projects.map(|(name, (project, from))| ProjectInfo {
        name,
        missing: !project.folder.is_dir(),
        project,
        from,
    });
    Ok(ProjectList {
        projects: projects.collect(),
        backends: registry.backends().to_vec(),
    })
}

/// Add or change a project
#[utoipa::path(put, path = "/api/projects/{name}", tag = "agents", params(("name" = String, Path, description = "The project")),
    request_body = ProjectConfig, responses(
    (status = 200, body = EmptyBody),
    (status = 400, body = ApiError),
    (status = 409, description = "It is defined in config.yaml", body = ApiError),
))]
pub async fn put_project(
    State(state): State<Arc<RemoteState>>,
    Id(name): Id,
    Json(project): Json<ProjectConfig>,
) -> ApiResult<axum::Json<EmptyBody>> {
    if matches!(state.remote.workspaces.check(&project.folder), Ok(false)) {
        let message = "`folder` must not be in Gangway's data folder";
        return Err(ApiError::invalid(message));
    }
    let stored = state.remote.registry.add_project(&name, &project).await;
    stored.map_err(registry_error)?;
    Ok(axum::Json(EmptyBody {}))
}

/// Remove a project; its folder is kept
#[utoipa::path(delete, path = "/api/projects/{name}", tag = "agents", params(("name" = String, Path, description = "The project")), responses(
    (status = 200, body = EmptyBody),
    (status = 404, body = ApiError),
    (status = 409, description = "It is defined in config.yaml", body = ApiError),
))]
pub async fn remove_project(
    State(state): State<Arc<RemoteState>>,
    Id(name): Id,
) -> ApiResult<axum::Json<EmptyBody>> {
    let removed = state.remote.registry.remove_project(&name).await;
    removed.map_err(registry_error)?;
    Ok(axum::Json(EmptyBody {}))
}

/// List the personas
#[utoipa::path(get, path = "/api/personas", tag = "agents", responses((status = 200, body = PersonaList)))]
pub async fn personas(State(state): State<Arc<RemoteState>>) -> ApiResult<axum::Json<PersonaList>> {
    Ok(axum::Json(list_personas(&state.remote.registry).await?))
}

pub async fn list_personas(registry: &Registry) -> gangway_core::Result<PersonaList> {
    let personas = registry.personas().await?.into_iter();
    let personas = personas.map(|(slug, (persona, from))| PersonaInfo {
        has_experience: persona.folder.join("experience.md").is_file(),
        missing: read_persona(&slug, &persona.folder).is_err(),
        own: from == StoredIn::Added && registry.is_own(&persona),
        slug,
        persona,
        from,
    });
    Ok(PersonaList {
        personas: personas.collect(),
    })
}

/// Add or change a persona
#[utoipa::path(put, path = "/api/personas/{slug}", tag = "agents", params(("slug" = String, Path, description = "The persona")),
    request_body = PersonaConfig, responses(
    (status = 200, body = EmptyBody),
    (status = 400, body = ApiError),
    (status = 409, description = "It is defined in config.yaml", body = ApiError),
))]
pub async fn put_persona(
    State(state): State<Arc<RemoteState>>,
    Id(slug): Id,
    Json(persona): Json<PersonaConfig>,
) -> ApiResult<axum::Json<EmptyBody>> {
    let stored = state.remote.registry.add_persona(&slug, &persona).await;
    stored.map_err(registry_error)?;
    Ok(axum::Json(EmptyBody {}))
}

/// Remove a persona; its folder is kept, unless it was created here
#[utoipa::path(delete, path = "/api/personas/{slug}", tag = "agents", params(("slug" = String, Path, description = "The persona")), responses(
    (status = 200, body = EmptyBody),
    (status = 404, body = ApiError),
    (status = 409, description = "It is defined in config.yaml", body = ApiError),
))]
pub async fn remove_persona(
    State(state): State<Arc<RemoteState>>,
    Id(slug): Id,
) -> ApiResult<axum::Json<EmptyBody>> {
    let slug: Slug = slug
        .parse()
        .map_err(|_| ApiError::new(StatusCode::NOT_FOUND, "not_found", "persona not found"))?;
    let removed = state.remote.registry.remove_persona(slug.as_str()).await;
    removed.map_err(registry_error)?;
    Ok(axum::Json(EmptyBody {}))
}
