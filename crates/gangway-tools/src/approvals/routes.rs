//! Approvals of tool calls, for the Tools page.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use gangway_core::ToolName;
use gangway_http::{
    access::{Scope, scope},
    error::{ApiError, ApiResult},
    extract::{self, Id},
    routes::Routes,
};

use super::{
    Approvals, StoredChoice,
    wire::{
        ApprovalList, LastingChoice, ServerApproval, SetServerApproval, SetToolApproval,
        ToolApproval,
    },
};
use crate::{ToolsState, Toolset, routes::refused};

/// Routes of approvals.
#[must_use]
pub fn routes() -> Routes<Arc<ToolsState>> {
    Routes::new()
        .get("/api/tools/approvals", scope(Scope::Admin), list)
        .put("/api/tools/approvals", scope(Scope::Admin).json(), set_tool)
        .put(
            "/api/mcp/servers/{id}/approval",
            scope(Scope::Admin).json(),
            set_server,
        )
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(list, set_tool, set_server))]
pub struct Documented;

/// List the approval policies and choices
#[utoipa::path(get, path = "/api/tools/approvals", tag = "tools", responses((status = 200, body = ApprovalList)))]
async fn list(State(state): State<Arc<ToolsState>>) -> Json<ApprovalList> {
    Json(state.approvals.list())
}

/// Set or remove a choice about a tool
#[utoipa::path(put, path = "/api/tools/approvals", tag = "tools", request_body = SetToolApproval, responses(
    (status = 204, description = "Stored"),
    (status = 400, body = ApiError),
    (status = 404, description = "Tool not found", body = ApiError),
))]
async fn set_tool(
    State(state): State<Arc<ToolsState>>,
    extract::Json(request): extract::Json<SetToolApproval>,
) -> ApiResult<StatusCode> {
    let tool: ToolName = request
        .tool
        .parse()
        .map_err(|error| ApiError::invalid(format!("`tool`: {error}")))?;
    state
        .approvals
        .set(&state.toolset, &tool, request.choice)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Set the approval policy of a server
#[utoipa::path(put, path = "/api/mcp/servers/{id}/approval", tag = "tools", params(("id" = String, Path, description = "The server")),
    request_body = SetServerApproval, responses(
    (status = 204, description = "Stored"),
    (status = 400, body = ApiError),
    (status = 404, body = ApiError),
    (status = 409, description = "It is configured in config.yaml", body = ApiError),
))]
async fn set_server(
    State(state): State<Arc<ToolsState>>,
    Id(id): Id,
    extract::Json(request): extract::Json<SetServerApproval>,
) -> ApiResult<StatusCode> {
    if state.tools.is_from_config(&id) {
        let message = format!("{id} comes from config.yaml; set its `approval` there and restart");
        return Err(ApiError::new(StatusCode::CONFLICT, "from_config", message));
    }
    let set = state.tools.set_approval(&id, request.policy).await;
    set.map_err(refused)?;
    Ok(StatusCode::NO_CONTENT)
}

impl Approvals {
    fn list(&self) -> ApprovalList {
        let servers = self.tools.ids().into_iter().map(|id| ServerApproval {
            policy: self.policy(&id),
            from_config: self.tools.is_from_config(&id),
            id,
        });
        let choice = |(tool, stored): (&ToolName, &StoredChoice)| ToolApproval {
            tool: tool.to_string(),
            choice: match stored.allowed {
                true => LastingChoice::Always,
                false => LastingChoice::Never,
            },
        };
        ApprovalList {
            default_policy: self.tools.approval,
            servers: servers.collect(),
            tools: self.lock().stored.iter().map(choice).collect(),
        }
    }

    async fn set(
        &self,
        toolset: &Toolset,
        tool: &ToolName,
        choice: Option<LastingChoice>,
    ) -> ApiResult<()> {
        let stored = match choice {
            None => None,
            Some(choice) => {
                let known = self.known(toolset, tool).ok().flatten().ok_or_else(|| {
                    let message = format!("tool {tool} not found; GET /api/tools lists all tools");
                    ApiError::new(StatusCode::NOT_FOUND, "ERR_TOOL_NOT_FOUND", message)
                })?;
                Some(StoredChoice {
                    allowed: choice == LastingChoice::Always,
                    fingerprint: known.fingerprint,
                })
            }
        };
        Ok(self.keep(tool, stored).await?)
    }
}
