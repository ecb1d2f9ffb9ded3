//! Relay sessions for whoever runs the server: which there are, and their tokens.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::IntoResponse};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::{
    error::{ApiError, ApiResult},
    extract::Id,
    relay::{Relay, RelayName},
    server::App,
};

/// A relay session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct RelayInfo {
    /// Its name.
    pub name: String,
    /// Whether there is a page.
    pub host: bool,
    /// How many agents there are.
    pub agents: usize,
    /// The study session that is open.
    pub study_session: Option<String>,
    /// Whether whoever joins must show a token.
    pub token: bool,
}

/// The relay sessions where somebody is, or was a short time ago.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
pub struct RelayList {
    /// By name.
    pub sessions: Vec<RelayInfo>,
}

/// A token of a relay session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
pub struct RelayToken {
    /// The relay session.
    pub session: String,
    /// What whoever joins puts into `token`.
    pub token: String,
}

fn name(text: &str) -> ApiResult<RelayName> {
    text.parse()
        .map_err(|error| ApiError::invalid(format!("{error}")))
}

/// The relay sessions there are, as they are shown.
fn infos(relay: &Relay) -> RelayList {
    let info = |session: Arc<crate::relay::RelaySession>| {
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
    }
}

/// List the relay sessions, with their pages and agents
#[utoipa::path(get, path = "/api/relay", tag = "relay", responses((status = 200, body = RelayList)))]
pub async fn list(State(app): State<Arc<App>>) -> axum::Json<RelayList> {
    axum::Json(infos(&app.relay))
}

/// Make a token for a relay session, in the place of the one before it; the answer is the only place that shows it
#[utoipa::path(post, path = "/api/relay/tokens/{session}", tag = "relay", params(("session" = String, Path, description = "The relay session")), responses(
    (status = 201, body = RelayToken),
    (status = 400, body = ApiError),
))]
pub async fn make_token(
    State(app): State<Arc<App>>,
    Id(session): Id,
) -> ApiResult<impl IntoResponse> {
    let token = app.relay.tokens.make(&name(&session)?).await?;
    let made = RelayToken { session, token };
    Ok((StatusCode::CREATED, axum::Json(made)))
}

/// Take the token of a relay session away
#[utoipa::path(delete, path = "/api/relay/tokens/{session}", tag = "relay", params(("session" = String, Path, description = "The relay session")), responses(
    (status = 204, description = "It is gone"),
    (status = 400, body = ApiError),
    (status = 404, body = ApiError),
))]
pub async fn remove_token(State(app): State<Arc<App>>, Id(session): Id) -> ApiResult<StatusCode> {
    match app.relay.tokens.remove(&name(&session)?).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::new(
            StatusCode::NOT_FOUND,
            "token_not_found",
            "this relay session has no token",
        )),
    }
}
