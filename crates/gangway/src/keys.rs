//! Routes for API keys and browser logins.

use std::{net::SocketAddr, sync::Arc, time::Instant};

use axum::{
    Extension,
    extract::{ConnectInfo, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::IntoResponse,
};
use gangway_http::{
    access::{Body, Rate, Scope, public, scope},
    auth::{
        Admitted, CreatedKey, KeyId, KeyInfo, KeyName, KeyScope, LoginId, LoginInfo, MOST_SCOPES,
        NewLogin, NoKeyName, ToolPattern,
    },
    error::{ApiError, ApiResult},
    extract::{Id, Json},
    routes::Routes,
};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use gangway_webagent::browser::BROWSER;

use crate::app::App;

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateKey {
    pub name: String,
    /// `chat`, `models`, `tools`, `tools:SERVER/TOOL`, `agents`, `agents:PROJECT`, `relay`, `relay.agent:SESSION`,
    /// `relay.host:SESSION`, `apps`, `metrics`, `admin`.
    #[ts(type = "string[]")]
    #[schema(value_type = Vec<String>)]
    pub scopes: Vec<KeyScope>,
    /// Seconds until it expires; default is never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub expires_in: Option<u32>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct KeyList {
    /// Oldest first.
    pub keys: Vec<KeyInfo>,
}

#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Login {
    /// A code from `gangway open`, or an API key.
    pub key: String,
}

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct LoginCode {
    /// Valid once, for ten minutes.
    pub code: String,
    /// A page that logs in with the code.
    pub url: String,
}

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct LoggedIn {
    /// For `Authorization: Bearer TOKEN`. Valid only for pages of the origin that logged in.
    pub token: String,
}

#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct LoginList {
    /// Most recently used first.
    pub logins: Vec<LoginInfo>,
}

#[must_use]
pub fn routes() -> Routes<Arc<App>> {
    Routes::new()
        .get("/api/keys", scope(Scope::Admin), list)
        .post("/api/keys", scope(Scope::Admin).json(), create)
        .delete("/api/keys/{id}", scope(Scope::Admin), revoke)
        .post(
            "/api/login",
            public().body(Body::Small).rate(Rate::Logins),
            login,
        )
        .post("/api/login/codes", scope(Scope::Admin), login_code)
        .post("/api/logout", public(), logout)
        .get("/api/logins", scope(Scope::Admin), list_logins)
        .delete("/api/logins", scope(Scope::Admin), end_logins)
        .delete("/api/logins/{id}", scope(Scope::Admin), end_login)
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(
    list,
    create,
    revoke,
    login,
    login_code,
    logout,
    list_logins,
    end_logins,
    end_login,
))]
pub(crate) struct Documented;

/// List the API keys
#[utoipa::path(get, path = "/api/keys", tag = "keys", responses((status = 200, body = KeyList)))]
async fn list(State(app): State<Arc<App>>) -> axum::Json<KeyList> {
    axum::Json(KeyList {
        keys: app.http.keys.list(),
    })
}

/// Create an API key; it is shown only in this response
#[utoipa::path(post, path = "/api/keys", tag = "keys", request_body = CreateKey, responses(
    (status = 201, body = CreatedKey),
    (status = 400, body = ApiError),
))]
async fn create(
    State(app): State<Arc<App>>,
    Json(request): Json<CreateKey>,
) -> ApiResult<impl IntoResponse> {
    let name: KeyName = request
        .name
        .parse()
        .map_err(|error: NoKeyName| ApiError::invalid(error.to_string()))?;
    if request.scopes.is_empty() || request.scopes.len() > MOST_SCOPES {
        let message = format!("`scopes` must have 1 to {MOST_SCOPES} scopes");
        return Err(ApiError::invalid(message));
    }
    let lasts = request
        .expires_in
        .map(|s| SignedDuration::from_secs(s.into()));
    let expires_at = lasts.map(|lasts| Timestamp::now() + lasts);
    let warnings = unmatched(&app, &request.scopes);
    let mut key = app
        .http
        .keys
        .create(&name, request.scopes, expires_at)
        .await?;
    key.warnings = warnings;
    Ok((StatusCode::CREATED, axum::Json(key)))
}

/// Warnings about scopes for a tool or MCP server that does not exist; it may be added later.
fn unmatched(app: &App, scopes: &[KeyScope]) -> Vec<String> {
    let (host, servers) = (&app.tools.host, app.tools.host.status());
    let warning = |scope: &KeyScope| {
        let KeyScope::Tools(pattern) = scope else {
            return None;
        };
        let server = match pattern {
            ToolPattern::All => return None,
            ToolPattern::Server(server) => server.as_str(),
            ToolPattern::One(tool) if app.toolset.source_of(tool).is_some() => return None,
            ToolPattern::One(tool) => tool.server(),
        };
        if server == gangway_core::OWN || server == BROWSER {
            return None;
        }
        let Some(status) = servers.iter().find(|one| one.id.as_str() == server) else {
            return Some(format!(
                "`{scope}` matches no tool: MCP server {server:?} not found"
            ));
        };
        match pattern {
            // The tools of a stopped server are unknown.
            ToolPattern::One(tool)
                if status.state == gangway_mcp::State::Ready && host.entry(tool).is_none() =>
            {
                Some(format!(
                    "`{scope}` matches no tool: {server:?} has no tool {:?}",
                    tool.tool()
                ))
            }
            _ => None,
        }
    };
    scopes.iter().filter_map(warning).collect()
}

/// Revoke an API key, effective immediately
#[utoipa::path(delete, path = "/api/keys/{id}", tag = "keys", params(("id" = String, Path, description = "The key's id")), responses(
    (status = 204, description = "Revoked"),
    (status = 404, body = ApiError),
))]
async fn revoke(State(app): State<Arc<App>>, Id(id): Id) -> ApiResult<StatusCode> {
    if let Ok(id) = id.parse::<KeyId>()
        && app.http.keys.revoke(&id).await?
    {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(ApiError::new(
        StatusCode::NOT_FOUND,
        "key_not_found",
        "key not found; `gangway key list` shows all keys",
    ))
}

/// Log a browser in with a code or an API key
#[utoipa::path(post, path = "/api/login", tag = "keys", request_body = Login, responses(
    (status = 200, body = LoggedIn),
    (status = 400, body = ApiError),
    (status = 401, body = ApiError),
))]
async fn login(
    State(app): State<Arc<App>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    Json(request): Json<Login>,
) -> ApiResult<axum::Json<LoggedIn>> {
    let text = |name| {
        headers
            .get(name)
            .and_then(|value: &HeaderValue| value.to_str().ok())
    };
    let origin = text(header::ORIGIN).ok_or_else(|| {
        ApiError::invalid("only pages log in; programs send their key with every request")
    })?;
    let shown = request.key.trim();
    let key = app.http.keys.find(shown);
    if key.is_none() && !app.http.logins.redeem(shown, Instant::now()) {
        return Err(app.http.guard.login_failed(peer.ip()));
    }
    let new = NewLogin {
        origin: &origin.to_lowercase(),
        user_agent: text(header::USER_AGENT).unwrap_or_default(),
        address: peer.ip().to_string(),
        key,
    };
    let token = app.http.logins.start(new, Timestamp::now()).await?;
    Ok(axum::Json(LoggedIn { token }))
}

/// Create a one-time login code
#[utoipa::path(post, path = "/api/login/codes", tag = "keys", responses((status = 201, body = LoginCode)))]
async fn login_code(State(app): State<Arc<App>>) -> impl IntoResponse {
    let code = app.http.logins.code(Instant::now());
    let url = app.http.link(&code);
    (StatusCode::CREATED, axum::Json(LoginCode { code, url }))
}

/// Log out; open connections of this browser are closed
#[utoipa::path(post, path = "/api/logout", tag = "keys", responses((status = 204, description = "The token is revoked")))]
async fn logout(
    State(app): State<Arc<App>>,
    Extension(admitted): Extension<Admitted>,
) -> ApiResult<StatusCode> {
    if let Admitted::Login(id, _) = admitted {
        app.http.logins.end(|one| *one == id).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// List browser logins
#[utoipa::path(get, path = "/api/logins", tag = "keys", responses((status = 200, body = LoginList)))]
async fn list_logins(
    State(app): State<Arc<App>>,
    Extension(admitted): Extension<Admitted>,
) -> axum::Json<LoginList> {
    let current = match &admitted {
        Admitted::Login(id, _) => Some(id),
        _ => None,
    };
    let logins = app.http.logins.list(current);
    axum::Json(LoginList { logins })
}

/// Log all browsers out
#[utoipa::path(delete, path = "/api/logins", tag = "keys", responses((status = 204, description = "All browsers are logged out")))]
async fn end_logins(State(app): State<Arc<App>>) -> ApiResult<StatusCode> {
    app.http.logins.end(|_| true).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Log one browser out
#[utoipa::path(delete, path = "/api/logins/{id}", tag = "keys", params(("id" = String, Path, description = "The login's id")), responses(
    (status = 204, description = "Logged out"),
    (status = 404, body = ApiError),
))]
async fn end_login(State(app): State<Arc<App>>, Id(id): Id) -> ApiResult<StatusCode> {
    if let Ok(id) = id.parse::<LoginId>()
        && app.http.logins.end(|one| *one == id).await? > 0
    {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(ApiError::new(
        StatusCode::NOT_FOUND,
        "login_not_found",
        "login not found; GET /api/logins lists all logins",
    ))
}
