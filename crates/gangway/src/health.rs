//! Whether the server lives, can work, and how it is doing.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::IntoResponse,
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    error::{ApiError, ApiResult},
    metrics::Doing,
    server::App,
};

/// A store that does not answer within this time is not ready.
const READY_WITHIN: Duration = Duration::from_secs(2);

/// Routes for whoever watches the server.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(healthz))
        .routes(routes!(readyz))
        .routes(routes!(metrics))
}

/// Whether the process lives
#[utoipa::path(get, path = "/healthz", tag = "health", responses((status = 200, description = "It does", body = String)))]
async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether requests can be served: the store takes writes
#[utoipa::path(get, path = "/readyz", tag = "health", responses(
    (status = 200, description = "They can", body = String),
    (status = 503, description = "They cannot", body = ApiError),
))]
async fn readyz(State(app): State<Arc<App>>) -> ApiResult<&'static str> {
    let not_ready =
        |why: &str| ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", why).retry_after(1);
    if app.stop.is_cancelled() {
        return Err(not_ready("the server is stopping"));
    }
    // An empty write goes all the way through the writer.
    match tokio::time::timeout(READY_WITHIN, app.hub.store().put(Vec::new())).await {
        Ok(Ok(_)) => Ok("ready\n"),
        Ok(Err(_)) => Err(not_ready("the store takes no writes; the log says more")),
        Err(_) => Err(not_ready("the store does not answer")),
    }
}

/// Counters for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "health", responses((status = 200, description = "OpenMetrics text", body = String)))]
async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    app.metrics
        .sessions_awake
        .set(i64::try_from(app.hub.awake_count()).unwrap_or(i64::MAX));
    for (state, count) in app.remote.count().await {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        app.metrics
            .agents
            .get_or_create(&Doing { state })
            .set(count);
    }
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics.text())
}
