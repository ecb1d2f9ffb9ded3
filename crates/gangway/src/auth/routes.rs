//! Keys over HTTP, and the log-in of our own pages.

use std::{sync::Arc, time::Instant};

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::IntoResponse,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    key::{CreatedKey, KeyInfo},
    login::{self as page, By},
    name::{KeyId, KeyName, NoKeyName},
    rights::{MOST_PATTERNS, ToolPattern},
};
use crate::{
    error::{ApiError, ApiResult},
    extract::{Id, Json, SmallJson},
    server::App,
};

/// A key to make.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateKey {
    /// What it is for.
    pub name: String,
    /// The only tools it is for: `server/tool`, `server/*`. Without it, the key is for everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string[]")]
    #[schema(value_type = Option<Vec<String>>)]
    pub tools: Option<Vec<ToolPattern>>,
}

/// The keys there are.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct KeyList {
    /// Oldest first.
    pub keys: Vec<KeyInfo>,
}

/// A key to log in with.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Login {
    /// The API key, or a code of `gangway login`.
    pub key: String,
}

/// A code that logs one page in.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct LoginCode {
    /// The code. It is good once, for ten minutes.
    pub code: String,
    /// A page of ours that logs itself in with it.
    pub url: String,
}

/// Routes for whoever runs the server, and the log-in.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(revoke))
        .routes(routes!(login))
        .routes(routes!(login_code))
        .routes(routes!(logout))
}

/// List the API keys
#[utoipa::path(get, path = "/api/keys", tag = "keys", responses((status = 200, body = KeyList)))]
async fn list(State(app): State<Arc<App>>) -> axum::Json<KeyList> {
    axum::Json(KeyList {
        keys: app.keys.list(),
    })
}

/// Make an API key; the answer is the only place that shows it
#[utoipa::path(post, path = "/api/keys", tag = "keys", request_body = CreateKey, responses(
    (status = 201, body = CreatedKey),
    (status = 400, body = ApiError),
))]
async fn create(
    State(app): State<Arc<App>>,
    Json(wish): Json<CreateKey>,
) -> ApiResult<impl IntoResponse> {
    let name: KeyName = wish
        .name
        .parse()
        .map_err(|error: NoKeyName| ApiError::invalid(error.to_string()))?;
    if wish.tools.as_ref().is_some_and(|t| t.len() > MOST_PATTERNS) {
        let message = format!("`tools` may name {MOST_PATTERNS} tools at the most");
        return Err(ApiError::invalid(message));
    }
    Ok((
        StatusCode::CREATED,
        axum::Json(app.keys.create(&name, wish.tools).await?),
    ))
}

/// Revoke an API key; it stops working at once
#[utoipa::path(delete, path = "/api/keys/{id}", tag = "keys", params(("id" = String, Path, description = "The key's id")), responses(
    (status = 204, description = "It is revoked"),
    (status = 404, body = ApiError),
))]
async fn revoke(State(app): State<Arc<App>>, Id(id): Id) -> ApiResult<StatusCode> {
    if let Ok(id) = id.parse::<KeyId>()
        && app.keys.revoke(&id).await?
    {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(ApiError::new(
        StatusCode::NOT_FOUND,
        "key_not_found",
        "there is no key with this id; `gangway key list` shows them",
    ))
}

/// Log a page of ours in with an API key
#[utoipa::path(post, path = "/api/login", tag = "keys", request_body = Login, responses(
    (status = 204, description = "A cookie that only this server reads was set"),
    (status = 401, body = ApiError),
))]
async fn login(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    SmallJson(wish): SmallJson<Login>,
) -> ApiResult<impl IntoResponse> {
    let (shown, now) = (wish.key.trim(), Instant::now());
    let by = match app.keys.find(shown) {
        Some(key) => By::Key(key),
        None if app.logins.redeem(shown, now) => By::Code,
        None => {
            return Err(ApiError::new(
                StatusCode::UNAUTHORIZED,
                "invalid_key",
                "this is no API key, and no code that is still good",
            ));
        }
    };
    let token = app.logins.start(by, now);
    Ok((
        StatusCode::NO_CONTENT,
        [(header::SET_COOKIE, page::set_cookie(Some(&token), &headers))],
    ))
}

/// Make a code that logs one page in, once
#[utoipa::path(post, path = "/api/login/codes", tag = "keys", responses((status = 201, body = LoginCode)))]
async fn login_code(State(app): State<Arc<App>>) -> impl IntoResponse {
    let code = app.logins.code(Instant::now());
    // Behind a `#` it is sent to no server and written into no log.
    let url = format!("{}/#login={code}", app.own_url);
    (StatusCode::CREATED, axum::Json(LoginCode { code, url }))
}

/// Log out
#[utoipa::path(post, path = "/api/logout", tag = "keys", responses((status = 204, description = "The cookie is gone")))]
async fn logout(State(app): State<Arc<App>>, headers: HeaderMap) -> impl IntoResponse {
    for token in page::tokens(&headers) {
        app.logins.end(token);
    }
    (
        StatusCode::NO_CONTENT,
        [(header::SET_COOKIE, page::set_cookie(None, &headers))],
    )
}
