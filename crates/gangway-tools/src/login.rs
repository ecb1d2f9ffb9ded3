//! OAuth login at MCP servers: the page to open, the redirect, and the stored tokens.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use futures_util::future::BoxFuture;
use gangway_http::{
    access::{Scope, TokenKind, scope, token},
    error::{ApiError, ApiResult},
    extract::Id,
    html::escape,
    routes::Routes,
};
use gangway_mcp::{ServerId, TokenStore};
use gangway_secrets::{SecretName, Secrets};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::ToolsState;
use crate::routes::{no_server, server};

/// The redirect URI. Not part of the API: other sites' login pages redirect to it.
const CALLBACK: &str = "/oauth/callback";

/// Tokens of servers, stored as secrets.
pub(crate) struct Tokens(pub(crate) Secrets);

impl Tokens {
    /// The secret of a server.
    pub(crate) fn name(server: &ServerId) -> Option<SecretName> {
        let plain = format!("mcp-login-{server}");
        let name = match plain.len() {
            0..=64 => plain,
            _ => format!(
                "mcp-login-{}",
                &blake3::hash(plain.as_bytes()).to_hex()[..32]
            ),
        };
        SecretName::parse(&name).ok()
    }

    async fn with<T: Send + 'static>(
        &self,
        server: &ServerId,
        act: impl FnOnce(&Secrets, &SecretName) -> Result<T, gangway_secrets::SecretsError>
        + Send
        + 'static,
    ) -> Result<T, String> {
        let (secrets, name) = (self.0.clone(), Self::name(server));
        let name = name.ok_or("its id is not valid in the name of a secret")?;
        // A keyring may block for its owner.
        let done = tokio::task::spawn_blocking(move || act(&secrets, &name)).await;
        let done = done.map_err(|_| "cannot read the secrets".to_owned())?;
        done.map_err(|error| error.to_string())
    }
}

impl TokenStore for Tokens {
    fn load(&self, server: ServerId) -> BoxFuture<'_, Result<Option<String>, String>> {
        Box::pin(async move {
            let found = self
                .with(&server, |secrets, name| secrets.get(name))
                .await?;
            Ok(found.map(|secret| secret.expose_secret().to_owned()))
        })
    }

    fn save(&self, server: ServerId, secret: Option<String>) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move {
            let save = |secrets: &Secrets, name: &SecretName| match secret {
                Some(secret) => secrets.set(name, &secret.into()),
                None => secrets.remove(name).map(|_| ()),
            };
            self.with(&server, save).await
        })
    }
}

/// The login page of a server.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct LoginPage {
    /// A page to open in a browser.
    pub url: String,
}

/// Routes for the Tools page and the command line.
#[must_use]
pub fn routes() -> Routes<Arc<ToolsState>> {
    Routes::new()
        .post("/api/mcp/servers/{id}/login", scope(Scope::Admin), log_in)
        .post("/api/mcp/servers/{id}/logout", scope(Scope::Admin), log_out)
        .get(CALLBACK, token(TokenKind::Oauth).loaded(), callback)
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(log_in, log_out,))]
pub struct Documented;

/// Start a login at an MCP server
#[utoipa::path(post, path = "/api/mcp/servers/{id}/login", tag = "tools", params(("id" = String, Path, description = "The server")), responses(
    (status = 200, description = "The page to open in a browser", body = LoginPage),
    (status = 404, body = ApiError),
    (status = 502, description = "The server's authorization metadata is missing or invalid", body = ApiError),
))]
async fn log_in(
    State(state): State<Arc<ToolsState>>,
    Id(id): Id,
    headers: HeaderMap,
) -> ApiResult<Json<LoginPage>> {
    let id = known(&state, &id)?;
    // The command line sends no origin and runs on this machine; other sites' pages are no valid redirect.
    let origin = headers.get(header::ORIGIN).and_then(|o| o.to_str().ok());
    let origin = origin.filter(|origin| !state.http.guard.is_guest(origin));
    let origin = origin.unwrap_or(&state.http.own_url);
    let callback = format!("{origin}{CALLBACK}");
    let begun = state.tools.host.log_in(&id, &callback).await;
    let url =
        begun.map_err(|reason| ApiError::new(StatusCode::BAD_GATEWAY, "login_failed", reason))?;
    Ok(Json(LoginPage { url }))
}

/// Log out of an MCP server
#[utoipa::path(post, path = "/api/mcp/servers/{id}/logout", tag = "tools", params(("id" = String, Path, description = "The server")), responses(
    (status = 204, description = "Logged out"),
    (status = 404, body = ApiError),
))]
async fn log_out(State(state): State<Arc<ToolsState>>, Id(id): Id) -> ApiResult<StatusCode> {
    let id = known(&state, &id)?;
    state.tools.host.log_out(&id).await.map_err(|reason| {
        tracing::error!(reason, "cannot delete a login");
        let message = "cannot delete the login; see the server's log";
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "storage_failed", message)
    })?;
    Ok(StatusCode::NO_CONTENT)
}

fn known(state: &ToolsState, id: &str) -> ApiResult<ServerId> {
    let parsed = server(id)?;
    let servers = state.tools.host.status();
    match servers.iter().any(|status| status.id == parsed) {
        true => Ok(parsed),
        false => Err(no_server(id)),
    }
}

/// The redirect after the user has logged in.
async fn callback(State(state): State<Arc<ToolsState>>, request: Request) -> Response {
    // Only the query matters; the login was started with this server's own URL.
    let query = request.uri().query().unwrap_or_default();
    let url = format!("{}{CALLBACK}?{query}", state.http.own_url);
    let (status, title, message) = match state.tools.host.logged_in(&url).await {
        Ok(id) => (
            StatusCode::OK,
            "Logged in",
            format!("Gangway is logged in at {id}. You can close this page."),
        ),
        Err(reason) => (
            StatusCode::BAD_REQUEST,
            "Login failed",
            format!("{reason}. Try again on the Tools page."),
        ),
    };
    let page = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>\
         <meta name=color-scheme content='light dark'><title>{title} · Gangway</title>\
         <h1>{title}</h1><p>{}</p><p><a href='/tools'>Tools</a></p>",
        escape(&message)
    );
    (status, Html(page)).into_response()
}
