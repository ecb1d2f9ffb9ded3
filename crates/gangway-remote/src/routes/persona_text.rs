//! Routes for the texts of personas.

use std::sync::Arc;

use axum::extract::State;
use gangway_http::{
    error::{ApiError, ApiResult},
    extract::{Id, Json},
};

use super::registry::registry_error;
use crate::{
    PersonaTexts, RemoteState, StoredIn,
    wire::{PersonaText, PutPersonaText, WrittenPersonaText},
};

/// Read the texts of a persona
#[utoipa::path(get, path = "/api/personas/{slug}/text", tag = "agents", params(("slug" = String, Path, description = "The persona")), responses(
    (status = 200, body = PersonaText),
    (status = 400, description = "A file cannot be read", body = ApiError),
    (status = 404, body = ApiError),
))]
pub async fn read(
    State(state): State<Arc<RemoteState>>,
    Id(slug): Id,
) -> ApiResult<axum::Json<PersonaText>> {
    let registry = &state.remote.registry;
    let (persona, texts) = registry.texts(&slug).await.map_err(registry_error)?;
    let from = match registry.is_in_config(&slug) {
        true => StoredIn::Config,
        false => StoredIn::Added,
    };
    Ok(axum::Json(PersonaText {
        version: texts.version(),
        folder: persona.folder.to_string_lossy().into_owned(),
        slug,
        from,
        skill: texts.skill,
        experience: texts.experience,
    }))
}

/// Write the texts of a persona
///
/// Without `version` it creates a persona in a folder of Gangway. Running agents keep their texts.
#[utoipa::path(put, path = "/api/personas/{slug}/text", tag = "agents", params(("slug" = String, Path, description = "The persona")),
    request_body = PutPersonaText, responses(
    (status = 200, body = WrittenPersonaText),
    (status = 400, body = ApiError),
    (status = 404, description = "Persona not found, but a version was given", body = ApiError),
    (status = 409, description = "`in_config`: defined in config.yaml; `conflict`: changed meanwhile, or already exists", body = ApiError),
))]
pub async fn write(
    State(state): State<Arc<RemoteState>>,
    Id(slug): Id,
    Json(change): Json<PutPersonaText>,
) -> ApiResult<axum::Json<WrittenPersonaText>> {
    let texts = PersonaTexts {
        skill: change.skill,
        experience: change.experience,
    };
    let registry = &state.remote.registry;
    let written = registry.write_texts(&slug, texts, change.version.as_deref());
    let version = written.await.map_err(registry_error)?;
    Ok(axum::Json(WrittenPersonaText { version }))
}
