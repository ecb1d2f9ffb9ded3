//! Liveness, readiness and metrics.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::IntoResponse,
};
use gangway_http::{
    access::{Scope, asset, scope},
    error::{ApiError, ApiResult},
    metrics::AgentLabels,
    routes::Routes,
};

use crate::app::App;

/// Timeout of the store.
const READY_WITHIN: Duration = Duration::from_secs(2);

/// Minimum free bytes in the data folder's file system. With less, a checkpoint may fail.
const FREE: u64 = 512 << 10;

#[must_use]
pub fn routes() -> Routes<Arc<App>> {
    Routes::new()
        .get("/healthz", asset(), healthz)
        .get("/readyz", asset(), readyz)
        .get("/metrics", scope(Scope::Metrics), metrics)
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(healthz, readyz, metrics,))]
pub(crate) struct Documented;

/// Liveness check
#[utoipa::path(get, path = "/healthz", tag = "health", responses((status = 200, description = "The process is alive", body = String)))]
async fn healthz() -> &'static str {
    "ok\n"
}

/// Readiness check: the store accepts writes, and its disk is not full
#[utoipa::path(get, path = "/readyz", tag = "health", responses(
    (status = 200, description = "Ready", body = String),
    (status = 503, description = "Not ready", body = ApiError),
))]
async fn readyz(State(app): State<Arc<App>>) -> ApiResult<&'static str> {
    let not_ready =
        |why: &str| ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", why).retry_after(1);
    if app.http.stop.is_cancelled() {
        return Err(not_ready("the server is stopping"));
    }
    let data = app.workspaces.data().to_owned();
    let free = tokio::task::spawn_blocking(move || gangway_client::data::free_bytes(&data)).await;
    if let Ok(Ok(free)) = free
        && free < FREE
    {
        return Err(not_ready(
            "the disk is full; free some space in the data folder's file system",
        ));
    }
    // An empty write passes through the writer.
    match tokio::time::timeout(READY_WITHIN, app.hub.store().put(Vec::new())).await {
        Ok(Ok(_)) => Ok("ready\n"),
        Ok(Err(_)) => Err(not_ready("the store does not accept writes; see the log")),
        Err(_) => Err(not_ready("the store does not respond")),
    }
}

/// Metrics in OpenMetrics format
#[utoipa::path(get, path = "/metrics", tag = "health", responses((status = 200, description = "OpenMetrics text", body = String)))]
async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    app.http
        .metrics
        .sessions_awake
        .set(i64::try_from(app.hub.awake_count()).unwrap_or(i64::MAX));
    app.http
        .metrics
        .damaged_places
        .set(i64::try_from(app.hub.store().damaged_places()).unwrap_or(i64::MAX));
    for (state, count) in app.remote.count().await {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        app.http
            .metrics
            .agents
            .get_or_create(&AgentLabels { state })
            .set(count);
    }
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.http.metrics.text())
}
