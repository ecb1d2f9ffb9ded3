//! Uploads of files and voice recordings.

use std::{path::Path, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    response::IntoResponse,
};
use gangway_files::{FileError, FilePath, Folder, Limits};
use gangway_http::{
    error::{ApiError, ApiResult},
    extract::{Query, read_slow_body},
};
use gangway_models::speech::Speech;
use gangway_secrets::SecretName;
use secrecy::ExposeSecret;
use serde::Deserialize;

use super::caller::Caller;
use crate::{
    AgentId, RemoteState,
    wire::{RawBody, SpeechText, Uploaded},
};

/// Longer file names are rejected.
const NAME_BYTES: usize = 200;

/// Files per agent.
const FILES: usize = 5000;

/// Files of the same name per agent.
const NAMESAKES: usize = 1000;

#[derive(Deserialize)]
pub struct UploadQuery {
    name: Option<String>,
}

/// The folder of an agent's uploads, relative to its own.
pub(super) fn folder_of(id: &AgentId) -> String {
    format!("uploads/{}", id.short())
}

/// Upload a file to an agent
///
/// The body is the file itself, with its type as `Content-Type`. The response has its path, for the `attachments` of a
/// message.
#[utoipa::path(post, path = "/api/remote_agents/{id}/uploads", tag = "agents", params(
    ("id" = String, Path, description = "The agent"),
    ("name" = String, Query, description = "The file name"),
), request_body(content = inline(RawBody), content_type = "application/octet-stream", description = "The bytes of the file; `Content-Type` is the type of the file itself, such as `image/png`"), responses(
    (status = 201, body = Uploaded),
    (status = 400, description = "`invalid_name`", body = ApiError),
    (status = 401, description = "`missing_token` or `invalid_token`", body = ApiError),
    (status = 403, description = "`feature_disabled`", body = ApiError),
    (status = 404, description = "`agent_not_found`", body = ApiError),
    (status = 409, description = "`agent_ended`", body = ApiError),
    (status = 413, description = "`upload_too_large`, or `uploads_full`", body = ApiError),
    (status = 415, description = "`upload_type_refused`", body = ApiError),
))]
pub async fn uploads(
    State(state): State<Arc<RemoteState>>,
    caller: Caller,
    Query(named): Query<UploadQuery>,
    request: Request,
) -> ApiResult<impl IntoResponse> {
    caller.alive()?;
    let settings = &state.remote.config;
    let record = caller.record();
    let allowed = record.flags.allowed(settings.embed_defaults);
    let kind = kind_of(request.headers());
    // A recording is a file too.
    let spoken = allowed.voice_mic && kind.starts_with("audio/");
    if !(allowed.file_upload || spoken) {
        return Err(disabled("file_upload"));
    }
    let name = checked_name(named.name.as_deref().unwrap_or_default())?;
    if !settings.upload_types.iter().any(|rule| fits(rule, &kind)) {
        let shown: String = kind.chars().take(100).collect();
        let types = settings.upload_types.join(", ");
        let message = format!("files of type {shown:?} are not accepted; accepted are {types}");
        return Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "upload_type_refused",
            message,
        ));
    }
    let _alone = caller.uploading.lock().await;
    let _place = state.remote.uploads.acquire().await;
    let content = read_body(request, settings.upload_bytes).await?;
    let size = content.len() as u64;
    let limits = Limits {
        write: settings.upload_bytes,
        ..Limits::default()
    };
    let folder = state
        .remote
        .workspaces
        .open_with(Path::new(&record.folder), limits);
    let folder = folder.await;
    let folder = folder.map_err(failed)?;
    check_room(&folder, &caller.id, size, settings.uploads_bytes).await?;
    let path = free_path(&folder, &caller.id, &name).await?;
    folder.write(&path, content).await.map_err(failed)?;
    Ok((
        StatusCode::CREATED,
        axum::Json(Uploaded {
            name: path.name().unwrap_or_default().to_owned(),
            path: path.as_str().to_owned(),
            size,
            r#type: kind,
        }),
    ))
}

/// Transcribe a recording
#[utoipa::path(post, path = "/api/remote_agents/{id}/transcribe", tag = "agents", params(("id" = String, Path, description = "The agent")),
    request_body(content(
        (inline(RawBody) = "audio/webm"), (inline(RawBody) = "audio/mp4"), (inline(RawBody) = "audio/ogg"), (inline(RawBody) = "audio/wav"),
    ), description = "The bytes of the recording"), responses(
    (status = 200, body = SpeechText),
    (status = 401, description = "`missing_token` or `invalid_token`", body = ApiError),
    (status = 403, description = "`feature_disabled`", body = ApiError),
    (status = 404, description = "`agent_not_found` or `speech_not_configured`", body = ApiError),
    (status = 409, description = "`agent_ended`", body = ApiError),
    (status = 413, description = "`upload_too_large`", body = ApiError),
    (status = 415, description = "`upload_type_refused`", body = ApiError),
    (status = 502, description = "`transcription_failed`", body = ApiError),
))]
pub async fn transcribe(
    State(state): State<Arc<RemoteState>>,
    caller: Caller,
    request: Request,
) -> ApiResult<axum::Json<SpeechText>> {
    caller.alive()?;
    let settings = &state.remote.config;
    if !caller
        .record()
        .flags
        .allowed(settings.embed_defaults)
        .voice_mic
    {
        return Err(disabled("voice_mic"));
    }
    let Some(speech) = &settings.speech else {
        let message = "speech recognition is not configured; set remote_agents.speech";
        let code = "speech_not_configured";
        return Err(ApiError::new(StatusCode::NOT_FOUND, code, message));
    };
    let kind = kind_of(request.headers());
    if !kind.starts_with("audio/") {
        let message = "the body must be a recording with a type such as audio/webm";
        let code = "upload_type_refused";
        return Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            code,
            message,
        ));
    }
    let _alone = caller.uploading.lock().await;
    let _place = state.remote.uploads.acquire().await;
    let audio = read_body(request, settings.upload_bytes).await?;
    let key = speech.key.clone();
    let (secrets, access) = (
        state.remote.models.secrets.clone(),
        state.remote.models.access_now(),
    );
    let key = tokio::task::spawn_blocking(move || {
        let name = key?;
        let known = access.keys.get(&name).cloned();
        known.or_else(|| {
            let stored = secrets.get(&SecretName::parse(&name).ok()?).ok()??;
            Some(stored.expose_secret().to_owned())
        })
    });
    let key = key.await.unwrap_or_default();
    // The upload slots are free from here on.
    drop((_place, _alone));
    let received = Speech::new(&speech.url, key, &speech.model);
    let text = received.transcribe(audio, &kind).await.map_err(|error| {
        let message = error.to_string();
        ApiError::new(StatusCode::BAD_GATEWAY, "transcription_failed", message).retry_after(5)
    })?;
    Ok(axum::Json(SpeechText { text }))
}

fn disabled(flag: &str) -> ApiError {
    let message = format!("{flag} is disabled for this agent");
    ApiError::new(StatusCode::FORBIDDEN, "feature_disabled", message)
}

fn kind_of(headers: &HeaderMap) -> String {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}

/// Matches rules such as `image/*`.
fn fits(rule: &str, kind: &str) -> bool {
    match rule.strip_suffix('*') {
        Some(begin) => kind.starts_with(begin) && kind.len() > begin.len(),
        None => rule == kind,
    }
}

async fn read_body(request: Request, most: u64) -> ApiResult<bytes::Bytes> {
    let limit = usize::try_from(most).unwrap_or(usize::MAX);
    let read = read_slow_body(request, limit).await;
    read.map_err(|error| match error.status {
        413 => {
            let message =
                format!("a file must be at most {most} bytes (remote_agents.upload_bytes)");
            ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "upload_too_large", message)
        }
        _ => error,
    })
}

/// Rejects names that are paths.
fn checked_name(name: &str) -> ApiResult<String> {
    let bad = name.is_empty()
        || name.len() > NAME_BYTES
        || name.starts_with('.')
        || name.ends_with(['.', ' '])
        || name
            .chars()
            .any(|c| c.is_control() || "/\\:*?\"<>|".contains(c))
        || !gangway_core::sanitize::is_visible(name);
    if bad {
        let message =
            "`name` must be a file name without a path, such as photo.png, of at most 200 bytes";
        return Err(ApiError::new(
            StatusCode::BAD_REQUEST,
            "invalid_name",
            message,
        ));
    }
    Ok(name.to_owned())
}

/// Checks the limits on an agent's uploads.
async fn check_room(folder: &Folder, id: &AgentId, size: u64, most: u64) -> ApiResult<()> {
    let path: FilePath = folder_of(id).parse().map_err(failed)?;
    let there = match folder.list(&path, FILES).await {
        Ok(there) => there,
        Err(FileError::NotFound { .. }) => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    let taken: u64 = there.entries.iter().map(|entry| entry.stat.size).sum();
    let limit = match taken.saturating_add(size) <= most {
        true if !there.more && there.entries.len() < FILES => return Ok(()),
        true => format!("at most {FILES} uploaded files"),
        false => format!(
            "at most {most} bytes of uploads (remote_agents.uploads_bytes), {taken} of which are used"
        ),
    };
    let message = format!(
        "this agent can have {limit}; ask it to delete files from its folder {}, or create another agent",
        folder_of(id)
    );
    Err(ApiError::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "uploads_full",
        message,
    ))
}

/// An unused path.
async fn free_path(folder: &Folder, id: &AgentId, name: &str) -> ApiResult<FilePath> {
    let (stem, end) = match name.rsplit_once('.') {
        Some((stem, end)) => (stem, format!(".{end}")),
        None => (name, String::new()),
    };
    for n in 1..=NAMESAKES {
        let name = match n {
            1 => name.to_owned(),
            n => format!("{stem}-{n}{end}"),
        };
        let path: FilePath = format!("{}/{name}", folder_of(id))
            .parse()
            .map_err(failed)?;
        if let Err(FileError::NotFound { .. }) = folder.stat(&path).await {
            return Ok(path);
        }
    }
    let message = format!(
        "this agent can have at most {NAMESAKES} uploads of the same name; rename the file"
    );
    Err(ApiError::new(
        StatusCode::CONFLICT,
        "too_many_files",
        message,
    ))
}

fn failed(error: FileError) -> ApiError {
    tracing::warn!(%error, "cannot write an upload");
    let message = "cannot write the file; see the server's log";
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", message)
}
