//! `/api/browser`: results of actions that the extension executed in the active tab.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use gangway_http::{
    error::{ApiError, ApiResult},
    extract::{self, Id},
};

use crate::{WebAgent, browser::BrowserAnswer};

/// Report the result of a browser action
#[utoipa::path(post, path = "/api/browser/acts/{id}", tag = "tools", request_body = BrowserAnswer,
    params(("id" = String, Path, description = "The action")), responses(
    (status = 204, description = "The agent received it"),
    (status = 404, description = "The action is unknown or no longer pending", body = ApiError),
))]
pub(super) async fn answer(
    State(agent): State<Arc<WebAgent>>,
    Id(id): Id,
    extract::Json(text): extract::Json<BrowserAnswer>,
) -> ApiResult<StatusCode> {
    if agent.browser.answer(&id, text) {
        return Ok(StatusCode::NO_CONTENT);
    }
    let message = "this action is unknown or no longer pending";
    Err(ApiError::new(
        StatusCode::NOT_FOUND,
        "act_not_found",
        message,
    ))
}
