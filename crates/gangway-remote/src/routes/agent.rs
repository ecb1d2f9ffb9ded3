//! Routes for the holder of an agent's token: status, shutdown, token rotation, frames.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderMap, Uri},
};
use gangway_core::event;
use gangway_http::{
    error::{ApiError, ApiResult},
    extract::{Id, Json},
};

use super::{
    caller::{Caller, find, invalid, missing, token},
    create::embed_url,
    manage::{agent_state, shut_down},
};
use crate::{
    Flags, RemoteState, TokenKind, new_token,
    wire::{AgentAlive, AgentShutdown, AgentToken, FlagsWanted, FrameInfo, OpenFrame, UploadRules},
};

/// Check whether an agent is alive
#[utoipa::path(get, path = "/api/remote_agents/{id}/alive", tag = "agents", params(
    ("id" = String, Path, description = "The agent"),
    ("token" = Option<String>, Query, description = "Its token, if no header can be sent"),
), responses(
    (status = 200, body = AgentAlive),
    (status = 401, description = "`missing_token` or `invalid_token`", body = ApiError),
))]
pub async fn alive(
    State(state): State<Arc<RemoteState>>,
    Id(id): Id,
    headers: HeaderMap,
    uri: Uri,
) -> ApiResult<axum::Json<AgentAlive>> {
    let token = token(&headers, &uri).ok_or_else(missing)?;
    let not = |reason: &str| AgentAlive {
        alive: false,
        agent_id: None,
        state: None,
        project_name: None,
        reason: Some(reason.into()),
    };
    let Some(agent) = find(&state, &id) else {
        return Ok(axum::Json(not("agent_not_found")));
    };
    if agent.knows(&token).is_none() {
        return Err(invalid("invalid or expired token for this agent"));
    }
    let Some(state) = agent_state(&state, &agent).await? else {
        return Ok(axum::Json(not("agent_ended")));
    };
    Ok(axum::Json(AgentAlive {
        alive: true,
        agent_id: Some(agent.id.to_string()),
        state: Some(state),
        project_name: Some(agent.record().project),
        reason: None,
    }))
}

/// End an agent
#[utoipa::path(post, path = "/api/remote_agents/{id}/shutdown", tag = "agents", params(("id" = String, Path, description = "The agent")), responses(
    (status = 200, body = AgentShutdown),
    (status = 401, description = "`missing_token` or `invalid_token`", body = ApiError),
    (status = 404, description = "`agent_not_found`", body = ApiError),
))]
pub async fn shutdown(
    State(state): State<Arc<RemoteState>>,
    caller: Caller,
) -> ApiResult<axum::Json<AgentShutdown>> {
    caller.as_maker()?;
    shut_down(&state, &caller.agent, "it was shut down").await
}

/// Rotate the session token; the previous one and those of all frames are revoked
#[utoipa::path(post, path = "/api/remote_agents/{id}/token", tag = "agents", params(("id" = String, Path, description = "The agent")), responses(
    (status = 200, body = AgentToken),
    (status = 401, description = "`missing_token` or `invalid_token`", body = ApiError),
    (status = 404, description = "`agent_not_found`", body = ApiError),
))]
pub async fn rotate(
    State(state): State<Arc<RemoteState>>,
    caller: Caller,
    headers: HeaderMap,
) -> ApiResult<axum::Json<AgentToken>> {
    caller.as_maker()?;
    let token = new_token();
    let hours = state.remote.config.token_hours;
    let rotated = state.remote.change(&caller, |record| {
        // Of two concurrent rotations, the second has an old token.
        record.tokens.check(&caller.token, event::now())?;
        record.tokens.rotate(&token, hours, event::now());
        Some(())
    });
    if rotated.await?.is_none() {
        return Err(invalid("this token has been revoked"));
    }
    Ok(axum::Json(AgentToken {
        embed_url: embed_url(&state, &headers, &caller.id, &token),
        session_token: token,
    }))
}

/// Exchange the token in the URL for one that is valid in this frame only
#[utoipa::path(post, path = "/api/remote_agents/{id}/exchange", tag = "agents", params(("id" = String, Path, description = "The agent")),
    request_body = OpenFrame, responses(
    (status = 200, body = FrameInfo),
    (status = 401, description = "`missing_token` or `invalid_token`", body = ApiError),
    (status = 404, description = "`agent_not_found`", body = ApiError),
))]
pub async fn exchange(
    State(state): State<Arc<RemoteState>>,
    caller: Caller,
    Json(request): Json<OpenFrame>,
) -> ApiResult<axum::Json<FrameInfo>> {
    let frame = open_frame(&state, &caller).await?;
    let settings = &state.remote.config;
    let record = caller.record();
    let own = state.http.own_url.clone();
    let parents = settings.allowed_origins.iter();
    let parents = parents.map(|origin| origin.trim_end_matches('/').to_lowercase());
    Ok(axum::Json(FrameInfo {
        frame_token: frame,
        agent_id: caller.id.to_string(),
        state: agent_state(&state, &caller).await?,
        feature_flags: record
            .flags
            .resolve(settings.embed_defaults, wanted(&request.feature_flags)),
        project_name: record.project,
        persona_slug: record.persona,
        upload: UploadRules {
            max_bytes: settings.upload_bytes,
            types: settings.upload_types.clone(),
        },
        speech: settings.speech.is_some(),
        parents: parents.chain([own]).collect(),
    }))
}

/// The token of a frame: a new one for a session token; a reloaded frame keeps its own. Otherwise one frame could live
/// forever, or create so many that all others end.
async fn open_frame(state: &RemoteState, caller: &Caller) -> ApiResult<String> {
    if caller.kind == TokenKind::Frame {
        return Ok(caller.token.clone());
    }
    let frame = new_token();
    let opened = state.remote.change(caller, |record| {
        record.tokens.check(&caller.token, event::now())?;
        record.tokens.add_frame(&frame, event::now());
        Some(())
    });
    match opened.await? {
        Some(()) => Ok(frame),
        None => Err(invalid("this token has been revoked")),
    }
}

fn wanted(flags: &FlagsWanted) -> Flags {
    Flags {
        file_upload: flags.file_upload,
        context_usage: flags.context_usage,
        voice_mic: flags.voice_mic,
    }
}
