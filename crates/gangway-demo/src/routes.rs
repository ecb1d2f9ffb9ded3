//! `/api/demo`: only the owner may start, follow and stop it.

use std::{sync::Arc, time::Duration};

use axum::{extract::State, http::StatusCode, response::IntoResponse};
use gangway_http::{
    access::{Scope, scope},
    error::{ApiError, ApiResult},
    extract::Query,
    routes::Routes,
};
use serde::Deserialize;

use super::{
    Demo,
    wire::{DemoInfo, DemoStatus},
};

/// How long a request waits for a change; shorter than the timeout of clients.
const WAIT: Duration = Duration::from_secs(5);

#[derive(Deserialize)]
struct After {
    after: Option<u64>,
}

pub fn routes() -> Routes<Arc<Demo>> {
    Routes::new()
        .get("/api/demo", scope(Scope::Admin), status)
        .post("/api/demo", scope(Scope::Admin).json(), start)
        .delete("/api/demo", scope(Scope::Admin), stop)
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(status, start, stop))]
pub struct Documented;

/// Show the running or last demo; with `after`, wait some seconds for a change
#[utoipa::path(get, path = "/api/demo", tag = "demo", params(
    ("after" = Option<u64>, Query, description = "The `version` that is known"),
), responses((status = 200, body = DemoStatus)))]
async fn status(
    State(demo): State<Arc<Demo>>,
    Query(request): Query<After>,
) -> axum::Json<DemoStatus> {
    let Some(mut info) = demo.info() else {
        return axum::Json(DemoStatus { demo: None });
    };
    if let Some(after) = request.after {
        let changed = info.wait_for(|info| info.version > after);
        let _ = tokio::time::timeout(WAIT, changed).await;
    }
    let info = info.borrow().clone();
    axum::Json(DemoStatus { demo: Some(info) })
}

/// Start the demo
#[utoipa::path(post, path = "/api/demo", tag = "demo", responses(
    (status = 201, body = DemoInfo),
    (status = 409, description = "A demo is running", body = ApiError),
    (status = 503, description = "It could not be started", body = ApiError),
))]
async fn start(State(demo): State<Arc<Demo>>) -> ApiResult<impl IntoResponse> {
    let info = demo.start().await?;
    Ok((StatusCode::CREATED, axum::Json(info)))
}

/// End the demo; its keys and the grants of its site are revoked
#[utoipa::path(delete, path = "/api/demo", tag = "demo", responses((status = 204, description = "No demo is running")))]
async fn stop(State(demo): State<Arc<Demo>>) -> StatusCode {
    demo.stop().await;
    StatusCode::NO_CONTENT
}
