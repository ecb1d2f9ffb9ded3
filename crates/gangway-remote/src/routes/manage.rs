//! Routes for administrators: list, show and end agents.

use std::sync::Arc;

use axum::{Extension, extract::State, http::StatusCode};
use gangway_http::{
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::Id,
};

use super::caller::{find, no_agent};
use crate::{
    AgentState, EndOutcome, HandOverError, LiveAgent, Phase, RemoteState,
    wire::{AgentHandOver, AgentShutdown, RemoteAgentInfo, RemoteAgentList},
};

/// List the agents, newest first
#[utoipa::path(get, path = "/api/remote_agents", tag = "agents", responses((status = 200, body = RemoteAgentList)))]
pub async fn list(
    State(state): State<Arc<RemoteState>>,
    Extension(admitted): Extension<Admitted>,
) -> ApiResult<axum::Json<RemoteAgentList>> {
    let mut agents = Vec::new();
    for agent in state.remote.all() {
        let record = agent.record();
        if record.phase != Phase::Creating && admitted.may_use_project(&state.http, &record.project)
        {
            agents.push(info(&state, &agent).await?);
        }
    }
    agents.sort_by_key(|agent| std::cmp::Reverse(agent.created_at));
    let settings = &state.remote.config;
    Ok(axum::Json(RemoteAgentList {
        agents,
        limit: settings.max_agents,
        embed_defaults: settings.embed_defaults,
    }))
}

/// Get an agent
#[utoipa::path(get, path = "/api/remote_agents/{id}", tag = "agents", params(("id" = String, Path, description = "The agent")), responses(
    (status = 200, body = RemoteAgentInfo),
    (status = 404, body = ApiError),
))]
pub async fn show(
    State(state): State<Arc<RemoteState>>,
    Extension(admitted): Extension<Admitted>,
    Id(id): Id,
) -> ApiResult<axum::Json<RemoteAgentInfo>> {
    let agent = found(&state, &admitted, &id)?;
    info(&state, &agent).await.map(axum::Json)
}

/// Stop an agent, as the operator of the server
#[utoipa::path(delete, path = "/api/remote_agents/{id}", tag = "agents", params(("id" = String, Path, description = "The agent")), responses(
    (status = 200, body = AgentShutdown),
    (status = 404, body = ApiError),
))]
pub async fn end(
    State(state): State<Arc<RemoteState>>,
    Extension(admitted): Extension<Admitted>,
    Id(id): Id,
) -> ApiResult<axum::Json<AgentShutdown>> {
    let agent = found(&state, &admitted, &id)?;
    shut_down(&state, &agent, "it was stopped by the operator").await
}

/// Compact an agent's context
///
/// With its next message the agent summarizes the conversation and continues with the summary, as it does by itself
/// when its context window is full (`remote_agents.hand_over_percent`). Its id, tokens and chat stay the same.
#[utoipa::path(post, path = "/api/remote_agents/hand_over/{id}", tag = "agents", params(("id" = String, Path, description = "The agent")), responses(
    (status = 202, body = AgentHandOver),
    (status = 404, description = "`agent_not_found`", body = ApiError),
    (status = 409, description = "`agent_ended`, or `hand_over_unsupported` for terminal programs", body = ApiError),
    (status = 503, description = "`service_unavailable`: its process is not connected", body = ApiError),
))]
pub async fn hand_over(
    State(state): State<Arc<RemoteState>>,
    Extension(admitted): Extension<Admitted>,
    Id(id): Id,
) -> ApiResult<(StatusCode, axum::Json<AgentHandOver>)> {
    let agent = found(&state, &admitted, &id)?;
    state.remote.hand_over(&agent).map_err(|error| {
        let message = error.to_string();
        match error {
            HandOverError::Ended => ApiError::new(StatusCode::CONFLICT, "agent_ended", message),
            HandOverError::Unsupported => {
                ApiError::new(StatusCode::CONFLICT, "hand_over_unsupported", message)
            }
            HandOverError::Away => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                ApiError::new(status, "service_unavailable", message).retry_after(5)
            }
        }
    })?;
    let answer = AgentHandOver {
        status: "hand_over_requested".into(),
        message: "The agent will compact its context with its next message.".into(),
        agent_id: agent.id.to_string(),
    };
    Ok((StatusCode::ACCEPTED, axum::Json(answer)))
}

/// An agent of a project that the caller may use.
fn found(state: &RemoteState, admitted: &Admitted, id: &str) -> ApiResult<Arc<LiveAgent>> {
    let agent = find(state, id);
    let agent =
        agent.filter(|agent| admitted.may_use_project(&state.http, &agent.record().project));
    agent.ok_or_else(|| no_agent(id))
}

pub(super) async fn shut_down(
    state: &Arc<RemoteState>,
    agent: &Arc<LiveAgent>,
    because: &str,
) -> ApiResult<axum::Json<AgentShutdown>> {
    let (status, message) = match state.remote.end(agent, because).await? {
        EndOutcome::Now => ("shutdown_initiated", "The agent is being shut down."),
        EndOutcome::Before => ("already_terminated", "The agent was already terminated."),
    };
    Ok(axum::Json(AgentShutdown {
        status: status.into(),
        message: message.into(),
        agent_id: agent.id.to_string(),
    }))
}

/// The state of a live agent.
pub(super) async fn agent_state(
    state: &RemoteState,
    agent: &LiveAgent,
) -> ApiResult<Option<AgentState>> {
    if agent.is_over() {
        return Ok(None);
    }
    let conversation = state.remote.conversation(agent).await?;
    Ok(Some(AgentState::of(&conversation)))
}

async fn info(state: &RemoteState, agent: &LiveAgent) -> ApiResult<RemoteAgentInfo> {
    let record = agent.record();
    let doing = agent_state(state, agent).await?;
    let seen = state.remote.hub.describe(agent.session).await;
    let last_active_at = match seen {
        Ok((profile, _)) => profile.updated_at,
        // Its session was deleted; the agent will end soon.
        Err(_) => record.created_at,
    };
    let words = state.remote.attach(agent);
    let words = words.iter().map(|word| quoted(&word.to_string_lossy()));
    let defaults = state.remote.config.embed_defaults;
    Ok(RemoteAgentInfo {
        agent_id: agent.id.to_string(),
        attach_command: words.collect::<Vec<_>>().join(" "),
        alive: !record.is_over(),
        can_hand_over: !record.is_over() && state.remote.can_hand_over(&record),
        state: doing.map(|state| state.as_str().to_owned()),
        attached: agent.channel.status().borrow().attached,
        session_id: record.session.to_string(),
        feature_flags: record.flags.allowed(defaults),
        project_name: record.project,
        persona_slug: record.persona,
        tmux_session_name: record.tmux,
        backend: record.backend,
        created_at: record.created_at,
        last_active_at,
        ended_at: record.ended_at,
        ended_reason: record.ended_reason,
    })
}

/// Quotes a word for the shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
