//! Creating and adopting agents.

use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::IntoResponse,
};
use gangway_http::{
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::{Json, idempotency_key},
};
use serde_json::{Map, Value};

use crate::{
    Adoption, AgentId, CreateError, Created, Flags, NewAgent, RemoteState,
    wire::{AdoptAgent, CreateAgent, CreatedAgent},
};

/// `Retry-After` when the limit is reached or tmux is missing.
const LATER: u32 = 10;

/// How long without output ends a turn of an adopted program, in milliseconds: agents pause while they think.
const ADOPTED_QUIET_MS: u64 = 3000;

/// Create an agent
///
/// Responds once the agent has its persona and has accepted the first message. A repeated `Idempotency-Key` returns
/// the same agent.
#[utoipa::path(post, path = "/api/remote_agents/create", tag = "agents", params(
    ("Idempotency-Key" = Option<String>, Header, description = "An idempotency key: a repeated request creates no second agent"),
), request_body = CreateAgent, responses(
    (status = 201, body = CreatedAgent),
    (status = 400, description = "`missing_fields` or `invalid_feature_flags`", body = ApiError),
    (status = 401, description = "`missing_token` or `invalid_token`: requires a key with the scope agents", body = ApiError),
    (status = 404, description = "`project_not_found` or `persona_not_found`", body = ApiError),
    (status = 408, description = "`agent_creation_timeout`: the agent was removed", body = ApiError),
    (status = 409, description = "`idempotency_key_reused`, or `agent_ended` if the agent of this request has ended", body = ApiError),
    (status = 503, description = "`service_unavailable`: the limit is reached, or tmux is missing", body = ApiError),
))]
pub async fn create(
    State(state): State<Arc<RemoteState>>,
    Extension(admitted): Extension<Admitted>,
    headers: HeaderMap,
    Json(body): Json<Map<String, Value>>,
) -> ApiResult<impl IntoResponse> {
    let mut request = parse_request(&body)?;
    if !admitted.may_use_project(&state.http, &request.project) {
        let message = format!(
            "this key has no access to the project {:?}",
            request.project
        );
        return Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "scope_required",
            message,
        ));
    }
    request.caller = admitted.caller();
    request.once = idempotency_key(&headers)?;
    let made = state.remote.create(request).await.map_err(refused)?;
    Ok((
        StatusCode::CREATED,
        axum::Json(created(&state, &headers, made)),
    ))
}

/// Adopt a program in the user's own tmux as an agent
///
/// The program keeps running when the agent ends. Messages are typed into its pane, and answers are read from its
/// screen.
#[utoipa::path(post, path = "/api/remote_agents/adopt", tag = "agents", request_body = AdoptAgent, responses(
    (status = 201, body = CreatedAgent),
    (status = 400, body = ApiError),
    (status = 404, description = "`project_not_found` or `persona_not_found`", body = ApiError),
    (status = 409, description = "`not_adoptable` or `already_adopted`", body = ApiError),
    (status = 503, description = "`service_unavailable`: the limit is reached, or tmux is missing", body = ApiError),
))]
pub async fn adopt(
    State(state): State<Arc<RemoteState>>,
    Extension(admitted): Extension<Admitted>,
    headers: HeaderMap,
    Json(body): Json<AdoptAgent>,
) -> ApiResult<impl IntoResponse> {
    let flags = body.feature_flags.unwrap_or_default();
    let wanted = Adoption {
        project: body.project_name,
        persona: body.persona_slug,
        prompt: body.initial_prompt,
        flags: Flags {
            file_upload: flags.file_upload,
            context_usage: flags.context_usage,
            voice_mic: flags.voice_mic,
        },
        caller: admitted.caller(),
        socket: body.socket.into(),
        target: body.target,
        shell: body.shell,
        prompt_pattern: body.prompt_pattern,
        quiet_ms: body.quiet_ms.unwrap_or(ADOPTED_QUIET_MS),
    };
    let made = state.remote.adopt(wanted).await.map_err(refused)?;
    let created = created(&state, &headers, made);
    Ok((StatusCode::CREATED, axum::Json(created)))
}

fn created(state: &RemoteState, headers: &HeaderMap, made: Created) -> CreatedAgent {
    let record = made.agent.record();
    let defaults = state.remote.config.embed_defaults;
    CreatedAgent {
        agent_id: made.agent.id.to_string(),
        embed_url: embed_url(state, headers, &made.agent.id, &made.token),
        session_token: made.token,
        project_name: record.project,
        persona_slug: record.persona,
        tmux_session_name: record.tmux,
        status: "ready".into(),
        feature_flags: record.flags.allowed(defaults),
        session_id: record.session.to_string(),
    }
}

/// The URL of an agent's chat, as seen by this caller.
pub(super) fn embed_url(
    state: &RemoteState,
    headers: &HeaderMap,
    id: &AgentId,
    token: &str,
) -> String {
    let base = match &state.remote.config.public_url {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => match headers
            .get(header::HOST)
            .and_then(|host| host.to_str().ok())
        {
            // The guard accepted it, so it is a name of this server.
            Some(host) => format!("http://{host}"),
            None => state.http.own_url.clone(),
        },
    };
    format!("{base}/embed/{id}?token={token}")
}

fn parse_request(body: &Map<String, Value>) -> ApiResult<NewAgent> {
    let mut wrong = Vec::new();
    let mut text = |name: &'static str| match body.get(name).and_then(Value::as_str) {
        Some(text) if !text.trim().is_empty() => text.to_owned(),
        _ => {
            wrong.push(name);
            String::new()
        }
    };
    let (project, persona) = (text("project_name"), text("persona_slug"));
    let prompt = text("initial_prompt");
    if !wrong.is_empty() {
        let names = wrong.join(", ");
        let message = format!("these fields are missing, empty or not strings: {names}");
        return Err(ApiError::new(
            StatusCode::BAD_REQUEST,
            "missing_fields",
            message,
        ));
    }
    Ok(NewAgent {
        project,
        persona,
        prompt,
        flags: flags(body.get("feature_flags"))?,
        caller: String::new(),
        once: None,
        adopted: None,
    })
}

fn flags(value: Option<&Value>) -> ApiResult<Flags> {
    match value {
        None | Some(Value::Null) => Ok(Flags::default()),
        // Must be an object: serde would also accept a list.
        Some(Value::Object(fields)) => {
            let fields = Value::Object(fields.clone());
            serde_json::from_value(fields).map_err(|_| bad_flags())
        }
        Some(_) => Err(bad_flags()),
    }
}

fn bad_flags() -> ApiError {
    let message = "feature_flags must be an object with file_upload, context_usage and voice_mic, each true or false";
    ApiError::new(StatusCode::BAD_REQUEST, "invalid_feature_flags", message)
}

fn refused(error: CreateError) -> ApiError {
    let message = error.to_string();
    match error {
        CreateError::NoProject(_) => {
            ApiError::new(StatusCode::NOT_FOUND, "project_not_found", message)
        }
        CreateError::NoPersona(_) => {
            ApiError::new(StatusCode::NOT_FOUND, "persona_not_found", message)
        }
        CreateError::TooLate(_) => ApiError::new(
            StatusCode::REQUEST_TIMEOUT,
            "agent_creation_timeout",
            message,
        )
        .retry_after(5),
        CreateError::OtherRequest => {
            ApiError::new(StatusCode::CONFLICT, "idempotency_key_reused", message)
        }
        CreateError::Over => ApiError::new(StatusCode::CONFLICT, "agent_ended", message),
        CreateError::NotAdoptable(_) => {
            ApiError::new(StatusCode::CONFLICT, "not_adoptable", message)
        }
        CreateError::AlreadyAdopted(_) => {
            ApiError::new(StatusCode::CONFLICT, "already_adopted", message)
        }
        CreateError::Disabled => ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "service_unavailable",
            message,
        ),
        CreateError::TooMany(_) | CreateError::Unavailable(_) | CreateError::Left => ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "service_unavailable",
            message,
        )
        .retry_after(LATER),
        CreateError::Failed(why) => {
            tracing::error!(why, "cannot create an agent");
            let message = "cannot create the agent; see the server's log";
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", message)
        }
    }
}
