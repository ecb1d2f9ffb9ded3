//! REST over permissions: for our own pages and the command line, and for nobody else.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use gangway_core::Origin;
use gangway_http::{
    asks::answered_by,
    error::{ApiError, ApiResult},
    extract::{self, Query},
};
use serde::Deserialize;

use crate::{
    WebAgent,
    permissions::{
        NotChanged, Settings,
        wire::{AuditPage, OriginPermissions, PermissionList, SetPermissions},
    },
};

/// The most tools and servers that one origin may have.
const TOOLS: usize = 1000;
const SERVERS: usize = 100;

/// The longest address of a server.
const ADDRESS: usize = 2000;

/// Entries of the log that one answer holds, when nothing is said and at the most.
const PAGE: usize = 100;
const MOST_PAGE: usize = 500;

impl From<NotChanged> for ApiError {
    fn from(error: NotChanged) -> Self {
        match error {
            NotChanged::Store(error) => error.into(),
            NotChanged::TooManyOrigins => {
                Self::new(StatusCode::CONFLICT, "too_many_origins", error.to_string())
            }
            NotChanged::NotAuthenticated(_) => Self::new(
                StatusCode::BAD_REQUEST,
                "origin_not_authenticated",
                error.to_string(),
            ),
            NotChanged::NoScopeForTools | NotChanged::NotOnce(_) => {
                Self::invalid(error.to_string())
            }
        }
    }
}

/// List what pages of other origins may do
#[utoipa::path(get, path = "/api/permissions", tag = "permissions", responses((status = 200, body = PermissionList)))]
pub(super) async fn list(State(agent): State<Arc<WebAgent>>) -> Json<PermissionList> {
    Json(agent.permissions.list())
}

/// Set what pages of an origin may do
#[utoipa::path(patch, path = "/api/permissions", tag = "permissions", request_body = SetPermissions, responses(
    (status = 200, description = "What they may do now", body = OriginPermissions),
    (status = 400, description = "A scope, a tool or an origin that makes no sense, or an origin without HTTPS that can only be allowed once", body = ApiError),
    (status = 409, description = "Too many origins are kept", body = ApiError),
))]
pub(super) async fn set(
    State(agent): State<Arc<WebAgent>>,
    headers: HeaderMap,
    extract::Json(wanted): extract::Json<SetPermissions>,
) -> ApiResult<Json<OriginPermissions>> {
    check_size(&wanted)?;
    let settings = Settings {
        scopes: wanted.scopes.unwrap_or_default(),
        tools: wanted.allowed_tools,
        servers: wanted.servers,
        duration: wanted.duration.unwrap_or_default(),
    };
    let origin = wanted.origin;
    if let Some(budget) = wanted.budget {
        agent.permissions.budgets.set(&origin, budget).await?;
    }
    agent
        .permissions
        .set(&origin, settings, answered_by(&headers))
        .await?;
    Ok(Json(agent.permissions.entry(&origin)))
}

fn check_size(wanted: &SetPermissions) -> ApiResult<()> {
    if wanted
        .allowed_tools
        .as_ref()
        .is_some_and(|tools| tools.len() > TOOLS)
    {
        let message = format!("`allowedTools` has more than {TOOLS} names");
        return Err(ApiError::invalid(message));
    }
    if wanted
        .budget
        .as_ref()
        .and_then(|budget| budget.max_concurrent)
        == Some(0)
    {
        return Err(ApiError::invalid(
            "`budget.maxConcurrent` must be at least 1",
        ));
    }
    let servers = wanted.servers.as_deref().unwrap_or_default();
    let web = |url: &String| {
        (url.starts_with("https://") || url.starts_with("http://"))
            && url.len() <= ADDRESS
            && gangway_core::sanitize::is_visible(url)
    };
    if servers.len() > SERVERS || !servers.iter().all(web) {
        let message = format!(
            "`servers` takes at most {SERVERS} addresses that begin with https:// or http://, of {ADDRESS} bytes at the most"
        );
        return Err(ApiError::invalid(message));
    }
    Ok(())
}

/// Whom to forget. A name that is written wrong must not mean everyone.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Whom {
    origin: Option<String>,
}

fn parse(origin: &str) -> ApiResult<Origin> {
    let read = origin.parse::<Origin>();
    read.map_err(|error| ApiError::invalid(format!("`origin`: {error}")))
}

/// Forget what pages of an origin may do, or of all origins
#[utoipa::path(delete, path = "/api/permissions", tag = "permissions",
    params(("origin" = Option<String>, Query, description = "The origin; all of them when not given")), responses(
    (status = 204, description = "They may do nothing, and may ask again"),
    (status = 400, description = "This is no origin", body = ApiError),
))]
pub(super) async fn forget(
    State(agent): State<Arc<WebAgent>>,
    headers: HeaderMap,
    Query(whom): Query<Whom>,
) -> ApiResult<StatusCode> {
    let by = answered_by(&headers);
    match whom.origin {
        Some(origin) => agent.permissions.forget(&parse(&origin)?, by).await?,
        None => agent.permissions.forget_all(by).await?,
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Which part of the log.
#[derive(Deserialize)]
pub(super) struct Which {
    origin: Option<String>,
    before: Option<u64>,
    limit: Option<usize>,
}

/// Read the log of what was decided and what was used
#[utoipa::path(get, path = "/api/permissions/audit", tag = "permissions", params(
    ("origin" = Option<String>, Query, description = "Of this origin alone"),
    ("before" = Option<String>, Query, description = "The `before` of another page"),
    ("limit" = Option<usize>, Query, description = "How many entries: 1 to 500, or 100"),
), responses(
    (status = 200, body = AuditPage),
    (status = 400, description = "The query makes no sense", body = ApiError),
))]
pub(super) async fn audit(
    State(agent): State<Arc<WebAgent>>,
    Query(which): Query<Which>,
) -> ApiResult<Json<AuditPage>> {
    let origin = which.origin.as_deref().map(parse).transpose()?;
    let limit = which.limit.unwrap_or(PAGE);
    if !(1..=MOST_PAGE).contains(&limit) {
        let message = format!("`limit` must be 1 to {MOST_PAGE}");
        return Err(ApiError::invalid(message));
    }
    let page = agent.permissions.log(origin.as_ref(), which.before, limit);
    Ok(Json(page.await?))
}
