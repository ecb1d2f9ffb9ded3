//! Routes for administrators: relay sessions and their tokens.

use std::sync::Arc;

use crate::{Relay, RelayName};
use axum::{extract::State, http::StatusCode, response::IntoResponse};
use gangway_http::{
    error::{ApiError, ApiResult},
    extract::Id,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use super::invitations::{self, InvitationInfo};
use crate::RelayState;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct RelayInfo {
    pub name: String,
    /// Whether a page has joined.
    pub host: bool,
    /// Number of agents.
    pub agents: usize,
    /// The open study session.
    pub study_session: Option<String>,
    /// Whether it has tokens.
    pub token: bool,
}

/// Current and recent relay sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
pub struct RelayList {
    /// Sorted by name.
    pub sessions: Vec<RelayInfo>,
    /// Invitations of agents to chats.
    pub invitations: Vec<InvitationInfo>,
}

/// The tokens of a relay session, one per role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct RelayTokens {
    pub session: String,
    /// `token` of agents.
    pub agent_token: String,
    /// `token` of the page.
    pub host_token: String,
}

fn name(text: &str) -> ApiResult<RelayName> {
    text.parse()
        .map_err(|error| ApiError::invalid(format!("{error}")))
}

async fn infos(relay: &Relay) -> RelayList {
    let mut invitations = Vec::new();
    for chat in relay.invitations.chats() {
        // Those to a deleted chat are of no use.
        if relay.hub().describe(chat).await.is_ok() {
            invitations.extend(invitations::infos(relay, chat));
        }
    }

    let info = |session: Arc<crate::RelaySession>| {
        let (host, agents) = session.presence();
        RelayInfo {
            name: session.name().to_string(),
            host,
            agents,
            study_session: session.study().map(|log| log.id().to_string()),
            token: relay.tokens.has(session.name()),
        }
    };
    RelayList {
        sessions: relay.all().into_iter().map(info).collect(),
        invitations,
    }
}

/// List the relay sessions, with their pages and agents
#[utoipa::path(get, path = "/api/relay", tag = "relay", responses((status = 200, body = RelayList)))]
pub async fn list(State(state): State<Arc<RelayState>>) -> axum::Json<RelayList> {
    axum::Json(infos(&state.relay).await)
}

/// Create tokens for a relay session, replacing the previous ones; they are shown only in this response
#[utoipa::path(post, path = "/api/relay/tokens/{session}", tag = "relay", params(("session" = String, Path, description = "The relay session")), responses(
    (status = 201, body = RelayTokens),
    (status = 400, body = ApiError),
))]
pub async fn make_token(
    State(state): State<Arc<RelayState>>,
    Id(session): Id,
) -> ApiResult<impl IntoResponse> {
    let name = name(&session)?;
    if name.chat().is_some() {
        let message = "agents are invited to a chat with POST /api/sessions/ID/invitations";
        return Err(ApiError::invalid(message));
    }
    let tokens = state.relay.tokens.make(&name).await?;
    let made = RelayTokens {
        session,
        agent_token: tokens.agent,
        host_token: tokens.host,
    };
    Ok((StatusCode::CREATED, axum::Json(made)))
}

/// Remove the tokens of a relay session, or the invitations to a chat, and close the connections that used them
#[utoipa::path(delete, path = "/api/relay/tokens/{session}", tag = "relay", params(("session" = String, Path, description = "The relay session")), responses(
    (status = 204, description = "Removed"),
    (status = 400, body = ApiError),
    (status = 404, body = ApiError),
))]
pub async fn remove_token(
    State(state): State<Arc<RelayState>>,
    Id(session): Id,
) -> ApiResult<StatusCode> {
    let name = name(&session)?;
    let removed = match name.chat() {
        Some(chat) => invitations::remove(&state.relay, chat, None).await?,
        None => state.relay.tokens.remove(&name).await?,
    };
    match removed {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::new(
            StatusCode::NOT_FOUND,
            "token_not_found",
            "this relay session has no tokens",
        )),
    }
}
