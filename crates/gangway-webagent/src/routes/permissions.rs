//! REST over permissions: for our own pages and the command line, and for nobody else.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
};
use gangway_core::Origin;
use gangway_http::{
    error::{ApiError, ApiResult},
    extract::{self, Id, Query},
};
use serde::Deserialize;

use crate::{
    WebAgent,
    permissions::{
        Answer, AskId, By, Decision, NotChanged, NotTaken, Settings,
        wire::{
            AnswerAsk, AskDecision, AuditPage, GrantDuration, OriginPermissions, PermissionAsk,
            PermissionAsks, PermissionList, SetPermissions,
        },
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

impl From<NotTaken> for ApiError {
    fn from(error: NotTaken) -> Self {
        match error {
            NotTaken::Gone => gone(),
            NotTaken::NotOffered(_) => Self::invalid(format!("`tools`: {error}")),
            NotTaken::NotChanged(error) => error.into(),
        }
    }
}

fn gone() -> ApiError {
    let message = NotTaken::Gone.to_string();
    ApiError::new(StatusCode::NOT_FOUND, "ask_not_found", message)
}

/// A browser always says where a change comes from; a terminal never does. The extension's bridge names itself.
fn by(headers: &HeaderMap) -> By {
    match headers.contains_key(header::ORIGIN) {
        _ if gangway_http::client_header::is_extension(headers) => By::Extension,
        true => By::Person,
        false => By::Terminal,
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
        .set(&origin, settings, by(&headers))
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
    let by = by(&headers);
    match whom.origin {
        Some(origin) => agent.permissions.forget(&parse(&origin)?, by).await?,
        None => agent.permissions.forget_all(by).await?,
    }
    Ok(StatusCode::NO_CONTENT)
}

/// List what pages ask the person
#[utoipa::path(get, path = "/api/permissions/asks", tag = "permissions", responses((status = 200, body = PermissionAsks)))]
pub(super) async fn asks(State(agent): State<Arc<WebAgent>>) -> Json<PermissionAsks> {
    Json(agent.permissions.asks(None))
}

/// Look at one question of a page
#[utoipa::path(get, path = "/api/permissions/asks/{id}", tag = "permissions",
    params(("id" = String, Path, description = "The question")), responses(
    (status = 200, body = PermissionAsk),
    (status = 404, description = "It is no longer open", body = ApiError),
))]
pub(super) async fn ask(
    State(agent): State<Arc<WebAgent>>,
    Id(id): Id,
) -> ApiResult<Json<PermissionAsk>> {
    let id: AskId = id.parse().map_err(|_| gone())?;
    agent.permissions.open_ask(&id).map(Json).ok_or_else(gone)
}

/// Answer a question of a page
#[utoipa::path(post, path = "/api/permissions/asks/{id}", tag = "permissions", request_body = AnswerAsk,
    params(("id" = String, Path, description = "The question")), responses(
    (status = 204, description = "It is kept, and the page knows"),
    (status = 400, description = "A tool that the question is not about, or `always` to an origin without HTTPS", body = ApiError),
    (status = 404, description = "It is no longer open", body = ApiError),
    (status = 409, description = "Too many origins are kept; once is still possible", body = ApiError),
))]
pub(super) async fn answer(
    State(agent): State<Arc<WebAgent>>,
    Id(id): Id,
    headers: HeaderMap,
    extract::Json(said): extract::Json<AnswerAsk>,
) -> ApiResult<StatusCode> {
    let id: AskId = id.parse().map_err(|_| gone())?;
    let answer = Answer {
        decision: match said.decision {
            AskDecision::Once => Decision::Once,
            AskDecision::Always => Decision::Always,
            AskDecision::Deny => Decision::Denied,
        },
        tools: said.tools,
        // An answer is given in passing, so it does not last for good unless the person says so.
        duration: said.duration.unwrap_or(GrantDuration::Month),
    };
    agent.permissions.answer(&id, answer, by(&headers)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Close a question of a page without an answer
#[utoipa::path(delete, path = "/api/permissions/asks/{id}", tag = "permissions",
    params(("id" = String, Path, description = "The question")), responses(
    (status = 204, description = "The page gets `not-granted`, and may ask again"),
    (status = 404, description = "It is no longer open", body = ApiError),
))]
pub(super) async fn dismiss(
    State(agent): State<Arc<WebAgent>>,
    Id(id): Id,
) -> ApiResult<StatusCode> {
    let id: AskId = id.parse().map_err(|_| gone())?;
    agent.permissions.dismiss(&id)?;
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
