//! The REST API of permissions, only for our own pages and the command line.

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
        GrantChangeError, Settings,
        wire::{AuditPage, OriginPermissions, PermissionList, SetPermissions},
    },
};

/// Maximum number of tools and of servers of one origin.
const TOOLS: usize = 1000;
const SERVERS: usize = 100;

/// Maximum length of a server's URL.
const ADDRESS: usize = 2000;

/// Entries per page of the log: default and maximum.
const PAGE: usize = 100;
const MOST_PAGE: usize = 500;

impl From<GrantChangeError> for ApiError {
    fn from(error: GrantChangeError) -> Self {
        match error {
            GrantChangeError::Store(error) => error.into(),
            GrantChangeError::TooManyOrigins => {
                Self::new(StatusCode::CONFLICT, "too_many_origins", error.to_string())
            }
            GrantChangeError::NotAuthenticated(_) => Self::new(
                StatusCode::BAD_REQUEST,
                "origin_not_authenticated",
                error.to_string(),
            ),
            GrantChangeError::NoScopeForTools | GrantChangeError::NotOnce(_) => {
                Self::invalid(error.to_string())
            }
        }
    }
}

/// List the permissions of all origins
#[utoipa::path(get, path = "/api/permissions", tag = "permissions", responses((status = 200, body = PermissionList)))]
pub(super) async fn list(State(agent): State<Arc<WebAgent>>) -> Json<PermissionList> {
    Json(agent.permissions.list())
}

/// Set the permissions of an origin
#[utoipa::path(patch, path = "/api/permissions", tag = "permissions", request_body = SetPermissions, responses(
    (status = 200, description = "The new permissions", body = OriginPermissions),
    (status = 400, description = "Invalid scope, tool or origin, or an origin without HTTPS, which can only be allowed once", body = ApiError),
    (status = 409, description = "Too many origins", body = ApiError),
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
        let message = format!("`allowedTools` must have at most {TOOLS} names");
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
            "`servers` must be at most {SERVERS} URLs with http:// or https://, each at most {ADDRESS} bytes"
        );
        return Err(ApiError::invalid(message));
    }
    Ok(())
}

/// The origin to delete. A misspelled parameter must not mean all of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OriginQuery {
    origin: Option<String>,
}

fn parse(origin: &str) -> ApiResult<Origin> {
    let read = origin.parse::<Origin>();
    read.map_err(|error| ApiError::invalid(format!("`origin`: {error}")))
}

/// Revoke the permissions of an origin, or of all origins
#[utoipa::path(delete, path = "/api/permissions", tag = "permissions",
    params(("origin" = Option<String>, Query, description = "The origin; default is all")), responses(
    (status = 204, description = "Revoked; the origin may ask again"),
    (status = 400, description = "Invalid origin", body = ApiError),
))]
pub(super) async fn forget(
    State(agent): State<Arc<WebAgent>>,
    headers: HeaderMap,
    Query(query): Query<OriginQuery>,
) -> ApiResult<StatusCode> {
    let by = answered_by(&headers);
    match query.origin {
        Some(origin) => agent.permissions.forget(&parse(&origin)?, by).await?,
        None => agent.permissions.forget_all(by).await?,
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Which part of the log.
#[derive(Deserialize)]
pub(super) struct AuditQuery {
    origin: Option<String>,
    before: Option<u64>,
    limit: Option<usize>,
}

/// List the audit log of decisions and uses
#[utoipa::path(get, path = "/api/permissions/audit", tag = "permissions", params(
    ("origin" = Option<String>, Query, description = "Only this origin"),
    ("before" = Option<String>, Query, description = "The `before` of the previous page"),
    ("limit" = Option<usize>, Query, description = "Number of entries, 1 to 500; default is 100"),
), responses(
    (status = 200, body = AuditPage),
    (status = 400, description = "Invalid query", body = ApiError),
))]
pub(super) async fn audit(
    State(agent): State<Arc<WebAgent>>,
    Query(which): Query<AuditQuery>,
) -> ApiResult<Json<AuditPage>> {
    let origin = which.origin.as_deref().map(parse).transpose()?;
    let limit = which.limit.unwrap_or(PAGE);
    if !(1..=MOST_PAGE).contains(&limit) {
        let message = format!("`limit` must be between 1 and {MOST_PAGE}");
        return Err(ApiError::invalid(message));
    }
    let page = agent.permissions.log(origin.as_ref(), which.before, limit);
    Ok(Json(page.await?))
}
