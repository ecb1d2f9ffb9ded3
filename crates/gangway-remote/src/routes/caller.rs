//! Authentication by an agent's token.

use std::{ops::Deref, sync::Arc};

use axum::{
    extract::{FromRequestParts, Path},
    http::{HeaderMap, StatusCode, Uri, header, request::Parts},
};
use gangway_http::error::{ApiError, ApiResult};

use crate::{AgentId, LiveAgent, RemoteState, TokenKind};

pub struct Caller {
    pub(super) agent: Arc<LiveAgent>,
    pub(super) kind: TokenKind,
    pub(super) token: String,
}

impl Deref for Caller {
    type Target = Arc<LiveAgent>;

    fn deref(&self) -> &Arc<LiveAgent> {
        &self.agent
    }
}

impl Caller {
    /// Rejects the token of a frame, which is valid for the chat only.
    pub(super) fn as_maker(&self) -> ApiResult<()> {
        match self.kind {
            TokenKind::Session => Ok(()),
            TokenKind::Frame => Err(invalid(
                "this requires the session token, not the token of a frame",
            )),
        }
    }

    pub(super) fn alive(&self) -> ApiResult<()> {
        if !self.agent.is_over() {
            return Ok(());
        }
        let message = "this agent has ended; create another one";
        Err(ApiError::new(StatusCode::CONFLICT, "agent_ended", message))
    }
}

impl FromRequestParts<Arc<RemoteState>> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<RemoteState>) -> ApiResult<Self> {
        let Path(id) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|_| no_agent(""))?;
        let token = token(&parts.headers, &parts.uri).ok_or_else(missing)?;
        let agent = find(state, &id).ok_or_else(|| no_agent(&id))?;
        let kind = agent.knows(&token).ok_or_else(|| invalid(WRONG))?;
        Ok(Self { agent, kind, token })
    }
}

const WRONG: &str = "invalid or expired token for this agent";

pub(super) fn find(state: &RemoteState, id: &str) -> Option<Arc<LiveAgent>> {
    let id: AgentId = id.parse().ok()?;
    state.remote.get(&id)
}

/// The token of a request, from its header or URL.
pub(super) fn token(headers: &HeaderMap, uri: &Uri) -> Option<String> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let value = value.to_str().unwrap_or_default();
        let bearer = value
            .strip_prefix("Bearer ")
            .or_else(|| value.strip_prefix("bearer "));
        // Another scheme counts as an invalid token, not a missing one.
        return Some(bearer.unwrap_or_default().trim().to_owned());
    }
    #[derive(serde::Deserialize)]
    struct InAddress {
        token: Option<String>,
    }
    let query = axum::extract::Query::<InAddress>::try_from_uri(uri).ok()?;
    query.0.token.filter(|token| !token.is_empty())
}

pub(super) fn missing() -> ApiError {
    let message = "send the agent's token, as `Authorization: Bearer TOKEN` or as ?token=TOKEN";
    ApiError::new(StatusCode::UNAUTHORIZED, "missing_token", message)
}

pub(super) fn invalid(message: &str) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "invalid_token", message)
}

pub(super) fn no_agent(id: &str) -> ApiError {
    let id: String = id.chars().take(80).collect();
    let message = format!("agent {id:?} not found");
    ApiError::new(StatusCode::NOT_FOUND, "agent_not_found", message)
}
