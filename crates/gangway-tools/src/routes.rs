//! API of MCP servers and tools.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use gangway_agents::router::route;
use gangway_core::{Tool, ToolError, ToolName};
use gangway_http::{
    access::{Rate, Scope, scope},
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::{self, Id, Query},
    routes::Routes,
};
use gangway_mcp::{ServerId, read_result};
use serde::Deserialize;

use crate::ToolsState;
use crate::{
    Tools,
    entry::ServerEntry,
    file::FileError,
    wire::{
        AddServers, CallTool, LogLines, RouteAnswer, RouteSentence, ToolAnswer, ToolList,
        ToolServerInfo, ToolServerList,
    },
};

/// Routes for the Tools page, the command line and programs.
#[must_use]
pub fn routes() -> Routes<Arc<ToolsState>> {
    Routes::new()
        .get("/api/mcp/servers", scope(Scope::Admin), servers)
        .post(
            "/api/mcp/servers",
            scope(Scope::Admin).json().rate(Rate::Starts),
            add,
        )
        .delete("/api/mcp/servers/{id}", scope(Scope::Admin), remove)
        .post(
            "/api/mcp/servers/{id}/start",
            scope(Scope::Admin).rate(Rate::Starts),
            start,
        )
        .post("/api/mcp/servers/{id}/stop", scope(Scope::Admin), stop)
        .get("/api/mcp/servers/{id}/logs", scope(Scope::Admin), logs)
        .get("/api/tools", scope(Scope::Tools), tools)
        .post("/api/tools/call", scope(Scope::Tools).json(), call)
        .post("/api/tools/route", scope(Scope::Tools).json(), find)
        .merge(crate::approvals::routes())
        .merge(crate::login::routes())
        .merge(crate::catalog::routes())
        .merge(crate::install::routes())
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(servers, add, remove, start, stop, logs, tools, call, find,))]
pub struct Documented;

/// List the MCP servers
#[utoipa::path(get, path = "/api/mcp/servers", tag = "tools", responses((status = 200, body = ToolServerList)))]
async fn servers(State(state): State<Arc<ToolsState>>) -> Json<ToolServerList> {
    Json(state.tools.list())
}

/// Add MCP servers
#[utoipa::path(post, path = "/api/mcp/servers", tag = "tools", request_body = AddServers, responses(
    (status = 201, body = ToolServerList),
    (status = 400, body = ApiError),
    (status = 409, description = "An id is in use", body = ApiError),
))]
async fn add(
    State(state): State<Arc<ToolsState>>,
    extract::Json(request): extract::Json<AddServers>,
) -> ApiResult<(StatusCode, Json<ToolServerList>)> {
    if let Some(id) = request
        .servers
        .keys()
        .find(|id| state.tools.config.contains_key(*id))
    {
        return Err(refused(FileError::Taken(id.clone())));
    }
    state
        .tools
        .file
        .add(request.servers, false)
        .map_err(refused)?;
    state.tools.reload().await;
    Ok((StatusCode::CREATED, Json(state.tools.list())))
}

/// Remove an MCP server and everything installed for it
#[utoipa::path(delete, path = "/api/mcp/servers/{id}", tag = "tools", params(("id" = String, Path, description = "The server")), responses(
    (status = 204, description = "Removed"),
    (status = 404, body = ApiError),
    (status = 409, description = "It is configured in config.yaml", body = ApiError),
))]
async fn remove(State(state): State<Arc<ToolsState>>, Id(id): Id) -> ApiResult<StatusCode> {
    if state.tools.config.contains_key(&id) {
        let message = format!("{id} is configured in config.yaml; remove it there and restart");
        return Err(ApiError::new(StatusCode::CONFLICT, "from_config", message));
    }
    state.tools.uninstall(&id).await.map_err(refused)?;
    state.approvals.forget_server(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Start or restart an MCP server
#[utoipa::path(post, path = "/api/mcp/servers/{id}/start", tag = "tools", params(("id" = String, Path, description = "The server")), responses(
    (status = 202, description = "It starts"),
    (status = 404, body = ApiError),
))]
async fn start(State(state): State<Arc<ToolsState>>, Id(id): Id) -> ApiResult<StatusCode> {
    let (wanted, server) = (state.tools.want(&id), server(&id)?);
    state.tools.reload().await;
    if wanted && state.tools.lock_known().entries.contains_key(&id) {
        return Ok(StatusCode::ACCEPTED);
    }
    match state.tools.host.restart(&server).await {
        true => Ok(StatusCode::ACCEPTED),
        false => Err(no_server(&id)),
    }
}

/// Stop an MCP server
#[utoipa::path(post, path = "/api/mcp/servers/{id}/stop", tag = "tools", params(("id" = String, Path, description = "The server")), responses(
    (status = 204, description = "It stopped"),
    (status = 404, body = ApiError),
))]
async fn stop(State(state): State<Arc<ToolsState>>, Id(id): Id) -> ApiResult<StatusCode> {
    match state.tools.host.stop(&server(&id)?).await {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(no_server(&id)),
    }
}

/// Start position in a log.
#[derive(Deserialize)]
struct LogQuery {
    after: Option<u64>,
}

/// Read a server's log
#[utoipa::path(get, path = "/api/mcp/servers/{id}/logs", tag = "tools", params(
    ("id" = String, Path, description = "The server"),
    ("after" = Option<u64>, Query, description = "The number of the last known line"),
), responses((status = 200, body = LogLines), (status = 404, body = ApiError)))]
async fn logs(
    State(state): State<Arc<ToolsState>>,
    Id(id): Id,
    Query(from): Query<LogQuery>,
) -> ApiResult<Json<LogLines>> {
    let lines = state
        .tools
        .host
        .logs(&server(&id)?, from.after.unwrap_or(0));
    let lines = lines.ok_or_else(|| no_server(&id))?;
    Ok(Json(LogLines {
        lines: lines.into_iter().map(Into::into).collect(),
    }))
}

/// List the tools of all ready servers
#[utoipa::path(get, path = "/api/tools", tag = "tools", responses((status = 200, body = ToolList)))]
async fn tools(
    State(state): State<Arc<ToolsState>>,
    axum::Extension(admitted): axum::Extension<Admitted>,
) -> Json<ToolList> {
    Json(ToolList::of(seen(&state, &admitted)))
}

/// The tools that this caller may list.
fn seen(state: &ToolsState, admitted: &Admitted) -> Vec<Arc<Tool>> {
    let mut tools = state.tools.host.tools();
    tools.retain(|tool| admitted.allows(&state.http, &tool.name));
    tools
}

/// Call a tool
#[utoipa::path(post, path = "/api/tools/call", tag = "tools", request_body = CallTool, responses(
    (status = 200, body = ToolAnswer),
    (status = 400, description = "Invalid arguments", body = ApiError),
    (status = 404, description = "Tool not found", body = ApiError),
    (status = 502, description = "The tool failed", body = ApiError),
    (status = 504, description = "Timeout of the tool", body = ApiError),
))]
async fn call(
    State(state): State<Arc<ToolsState>>,
    axum::Extension(admitted): axum::Extension<Admitted>,
    extract::Json(request): extract::Json<CallTool>,
) -> ApiResult<Json<ToolAnswer>> {
    let name: ToolName = request
        .tool
        .parse()
        .map_err(|error| ApiError::invalid(format!("`tool`: {error}")))?;
    let caller = admitted.caller();
    // A caller who got the beginning of a result may read the rest.
    if read_result::is_read_result(&name) {
        let read = state.toolset.read_on(&caller, &name, request.args);
        let result = read.map_err(failed)?;
        return Ok(Json(ToolAnswer { result }));
    }
    if !admitted.allows(&state.http, &name) {
        return Err(failed(ToolError::NotFound(name)));
    }
    let result = state
        .tools
        .host
        .call(&caller, &name, request.args, None)
        .await;
    Ok(Json(ToolAnswer {
        result: result.map_err(failed)?,
    }))
}

/// Route a sentence to matching servers
#[utoipa::path(post, path = "/api/tools/route", tag = "tools", request_body = RouteSentence, responses((status = 200, body = RouteAnswer)))]
async fn find(
    State(state): State<Arc<ToolsState>>,
    axum::Extension(admitted): axum::Extension<Admitted>,
    extract::Json(request): extract::Json<RouteSentence>,
) -> Json<RouteAnswer> {
    let found = route(&request.sentence, &seen(&state, &admitted));
    Json(RouteAnswer {
        servers: found.servers,
    })
}

impl Tools {
    fn list(&self) -> ToolServerList {
        let known = self.known();
        let mut running: std::collections::BTreeMap<String, _> = self
            .host
            .status()
            .into_iter()
            .map(|status| (status.id.to_string(), status))
            .collect();
        let info = |(id, entry): (&String, &ServerEntry)| {
            let from_config = self.config.contains_key(id);
            let target = target(entry);
            match (known.broken.get(id), running.remove(id)) {
                (None, Some(status)) => ToolServerInfo::new(status, target, from_config),
                (None, None) if !self.lock_wanted().has(id) => {
                    ToolServerInfo::stopped(id, target, from_config)
                }
                (problem, _) => {
                    let problem = problem.cloned().unwrap_or_else(|| "starting".into());
                    ToolServerInfo::broken(id, problem, target, from_config)
                }
            }
        };
        ToolServerList {
            servers: known.entries.iter().map(info).collect(),
        }
    }
}

/// The command line or URL of a server, without the user info and query of the URL, which may be secret.
pub(crate) fn target(entry: &ServerEntry) -> String {
    match (&entry.command, &entry.url) {
        (Some(command), _) => {
            let message = std::iter::once(command).chain(&entry.args);
            message.map(String::as_str).collect::<Vec<_>>().join(" ")
        }
        (None, Some(url)) => {
            let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
            let rest = rest.split('?').next().unwrap_or_default();
            let host_end = rest.find('/').unwrap_or(rest.len());
            let rest = match rest[..host_end].rfind('@') {
                Some(at) => &rest[at + 1..],
                None => rest,
            };
            format!("{scheme}://{rest}")
        }
        (None, None) => String::new(),
    }
}

pub(crate) fn server(id: &str) -> ApiResult<ServerId> {
    id.parse().map_err(|_| no_server(id))
}

pub(crate) fn no_server(id: &str) -> ApiError {
    let id: String = id.chars().take(80).collect();
    let message = format!("server {id:?} not found; GET /api/mcp/servers lists all servers");
    ApiError::new(StatusCode::NOT_FOUND, "server_not_found", message)
}

pub(crate) fn refused(error: FileError) -> ApiError {
    let (status, code) = match &error {
        FileError::Entry(_) => (StatusCode::BAD_REQUEST, "invalid_request"),
        FileError::Taken(_) => (StatusCode::CONFLICT, "server_exists"),
        FileError::NotFound(_) => (StatusCode::NOT_FOUND, "server_not_found"),
        FileError::Garbled { .. } | FileError::Io { .. } => {
            tracing::error!(%error, "cannot change the list of servers");
            let message = "cannot change the list of servers; see the server's log";
            return ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "storage_failed", message);
        }
    };
    ApiError::new(status, code, error.to_string())
}

fn failed(error: ToolError) -> ApiError {
    let status = match &error {
        ToolError::Refused { .. } => StatusCode::FORBIDDEN,
        ToolError::NotFound(_) => StatusCode::NOT_FOUND,
        ToolError::BadArguments { .. } => StatusCode::BAD_REQUEST,
        ToolError::Busy(_) => StatusCode::TOO_MANY_REQUESTS,
        ToolError::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        ToolError::Timeout { .. } => StatusCode::GATEWAY_TIMEOUT,
        ToolError::Failed(_) => StatusCode::BAD_GATEWAY,
    };
    ApiError::new(status, error.code(), error.to_string())
}
