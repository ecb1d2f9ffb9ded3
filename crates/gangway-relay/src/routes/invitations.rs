//! Invitations of external agents to chats.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::IntoResponse,
};
use gangway_core::{AskOutcome, AskedFor, Asker, Result, SessionId, sanitize::is_visible};
use gangway_http::{
    error::{ApiError, ApiResult},
    extract::{Id, Json},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::{Invitation, Relay, RelayName, RelayState};

/// Characters of a label.
const LABEL: usize = 60;

/// The label of agents that are given none.
const UNNAMED: &str = "External agent";

/// Seconds until an invitation expires: at most 30 days, and a day by default.
const LONGEST: u32 = 30 * 24 * 60 * 60;
const USUAL: u32 = 24 * 60 * 60;

#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub struct CreateInvitation {
    /// The name under which the agent appears; default is `External agent`.
    pub label: Option<String>,
    /// Seconds until it expires, at most 30 days; default is a day.
    pub expires_in: Option<u32>,
}

/// An invitation of an agent to a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct InvitationInfo {
    pub invitation_id: String,
    pub session_id: String,
    /// The name under which its agents appear.
    pub label: String,
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// How many agents are connected with it.
    pub agents: usize,
}

#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CreatedInvitation {
    /// For `token` of `relay.join`, with the chat as `sessionId`; not shown again.
    pub token: String,
    pub invitation: InvitationInfo,
}

/// The external agents of a chat.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct InvitationList {
    /// Those that are valid, oldest first.
    pub invitations: Vec<InvitationInfo>,
    /// The names of all connected agents.
    pub agents: Vec<String>,
}

async fn chat(relay: &Relay, id: &str) -> ApiResult<SessionId> {
    let chat = id.parse().map_err(|_| ApiError::no_session(id))?;
    relay.hub().describe(chat).await?;
    Ok(chat)
}

/// The names of the connected agents, with their invitations.
fn members(relay: &Relay, chat: SessionId) -> Vec<(String, Option<String>)> {
    let session = relay.get(&RelayName::from(chat));
    session.map_or_else(Vec::new, |session| session.members())
}

pub(super) fn infos(relay: &Relay, chat: SessionId) -> Vec<InvitationInfo> {
    let members = members(relay, chat);
    let info = |one: Invitation| InvitationInfo {
        agents: members
            .iter()
            .filter(|(_, by)| by.as_ref() == Some(&one.id))
            .count(),
        invitation_id: one.id,
        session_id: chat.to_string(),
        label: one.label,
        created_at: one.created_at,
        expires_at: one.expires_at,
    };
    let all = relay.invitations.of(chat).into_iter();
    all.map(info).collect()
}

/// Logs that an agent was invited, or that its invitation was revoked.
async fn log(relay: &Relay, chat: SessionId, label: &str, outcome: AskOutcome) {
    let asker = Asker::Agent(label.to_owned());
    let logged = relay
        .asks
        .log_decision(chat, asker, AskedFor::Invitation, outcome);
    logged.await;
}

/// Revokes an invitation to a chat, or all; false if there is none.
pub(super) async fn remove(relay: &Relay, chat: SessionId, id: Option<&str>) -> Result<bool> {
    let mut revoked = relay.invitations.of(chat);
    revoked.retain(|one| id.is_none_or(|id| one.id == id));
    let removed = relay.invitations.remove(chat, id).await?;
    for one in revoked.iter().filter(|_| removed) {
        log(relay, chat, &one.label, AskOutcome::Denied).await;
    }
    Ok(removed)
}

/// List the invitations of external agents to a chat, and the agents that are connected
#[utoipa::path(get, path = "/api/sessions/{id}/invitations", tag = "relay", params(("id" = String, Path, description = "The session")), responses(
    (status = 200, body = InvitationList),
    (status = 404, body = ApiError),
))]
pub async fn list(
    State(state): State<Arc<RelayState>>,
    Id(id): Id,
) -> ApiResult<axum::Json<InvitationList>> {
    let chat = chat(&state.relay, &id).await?;
    let members = members(&state.relay, chat).into_iter();
    Ok(axum::Json(InvitationList {
        invitations: infos(&state.relay, chat),
        agents: members.map(|(name, _)| name).collect(),
    }))
}

/// Invite an external agent to a chat; the token is shown only in this response
#[utoipa::path(post, path = "/api/sessions/{id}/invitations", tag = "relay", request_body = CreateInvitation,
    params(("id" = String, Path, description = "The session")), responses(
    (status = 201, body = CreatedInvitation),
    (status = 400, body = ApiError),
    (status = 404, body = ApiError),
    (status = 409, description = "There are too many invitations", body = ApiError),
))]
pub async fn invite(
    State(state): State<Arc<RelayState>>,
    Id(id): Id,
    Json(request): Json<CreateInvitation>,
) -> ApiResult<impl IntoResponse> {
    let chat = chat(&state.relay, &id).await?;
    let label = request.label.unwrap_or_default();
    let label = match label.trim() {
        "" => UNNAMED,
        label => label,
    };
    let length = label.chars().count();
    if length > LABEL || !is_visible(label) {
        let message = format!("`label` must be one line of at most {LABEL} characters");
        return Err(ApiError::invalid(message));
    }
    let lasts = request.expires_in.unwrap_or(USUAL);
    if !(1..=LONGEST).contains(&lasts) {
        let message = format!("`expiresIn` must be 1 to {LONGEST} seconds");
        return Err(ApiError::invalid(message));
    }
    let expires_at = Timestamp::now() + Duration::from_secs(lasts.into());
    let invitations = &state.relay.invitations;
    let made = invitations.make(chat, label.to_owned(), expires_at).await?;
    let made = made.map_err(|error| {
        ApiError::new(
            StatusCode::CONFLICT,
            "too_many_invitations",
            error.to_string(),
        )
    })?;
    let outcome = AskOutcome::Always;
    log(&state.relay, chat, &made.invitation.label, outcome).await;
    let created = CreatedInvitation {
        token: made.token,
        invitation: InvitationInfo {
            invitation_id: made.invitation.id,
            session_id: chat.to_string(),
            label: made.invitation.label,
            created_at: made.invitation.created_at,
            expires_at: made.invitation.expires_at,
            agents: 0,
        },
    };
    Ok((StatusCode::CREATED, axum::Json(created)))
}

/// Revoke an invitation and disconnect its agents
#[utoipa::path(delete, path = "/api/sessions/{id}/invitations/{invitation}", tag = "relay", params(
    ("id" = String, Path, description = "The session"),
    ("invitation" = String, Path, description = "The invitation"),
), responses(
    (status = 204, description = "Revoked"),
    (status = 404, body = ApiError),
))]
pub async fn revoke(
    State(state): State<Arc<RelayState>>,
    Path((id, invitation)): Path<(String, String)>,
) -> ApiResult<StatusCode> {
    let chat = chat(&state.relay, &id).await?;
    match remove(&state.relay, chat, Some(&invitation)).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::new(
            StatusCode::NOT_FOUND,
            "invitation_not_found",
            "this chat has no such invitation; it may have expired",
        )),
    }
}
