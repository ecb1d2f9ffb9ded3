//! All routes, grouped by who calls them, and what every answer carries.

use std::{panic::AssertUnwindSafe, sync::Arc};

use axum::{
    Router,
    extract::{MatchedPath, Request, State},
    http::{HeaderValue, Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use futures_util::FutureExt;
use utoipa_axum::router::OpenApiRouter;

use super::App;
use crate::{
    applets, assets, auth, docs, doors, error::ApiError, health, metrics::Answered, models,
    permissions, tools,
};

/// Every route that the API document describes.
pub(crate) fn documented() -> OpenApiRouter<Arc<App>> {
    docs::document()
        .merge(doors::sessions::routes())
        .merge(doors::openai::routes())
        .merge(models::routes())
        .merge(tools::routes())
        .merge(permissions::routes())
        .merge(applets::documented())
        .merge(doors::context::documented())
        .merge(doors::web_agent::documented())
        .merge(doors::remote::documented())
        .merge(doors::booking::documented())
        .merge(doors::relay::documented())
        .merge(auth::routes())
        .merge(health::routes())
}

/// The whole server as one service.
pub(super) fn build(app: &Arc<App>) -> Router {
    let (router, _document) = documented().split_for_parts();
    router
        .merge(docs::routes())
        .merge(doors::mcp::routes(app))
        .merge(doors::applet::routes())
        .merge(applets::pages())
        .merge(doors::context::sockets())
        .merge(doors::web_agent::routes())
        .merge(doors::relay::sockets())
        .merge(doors::remote::pages())
        .merge(permissions::sockets())
        .merge(tools::login::callback())
        .fallback(pages)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(
            Arc::clone(app),
            doors::context::on_app_host,
        ))
        .layer(middleware::from_fn_with_state(Arc::clone(app), auth::guard))
        .layer(middleware::from_fn_with_state(Arc::clone(app), finish))
        .layer(middleware::from_fn(doors::openai::in_our_words))
        .with_state(Arc::clone(app))
}

/// Our pages, and a clear answer for everything that is nothing.
async fn pages(request: Request) -> Response {
    let path = request.uri().path();
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let ours = matches!(
        path,
        "/" | "/agents" | "/applets" | "/models" | "/tools" | "/permissions" | "/permit" | "/study"
    ) || path.starts_with("/sessions/")
        || path.starts_with("/study/");
    if reads && ours {
        return assets::page(request.headers());
    }
    if reads && let Some(file) = assets::file(path.trim_start_matches('/'), request.headers()) {
        return file;
    }
    ApiError::new(
        StatusCode::NOT_FOUND,
        "not_found",
        "there is nothing at this address; /api/docs lists what there is",
    )
    .into_response()
}

async fn wrong_method() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this address does not take that method; see /api/docs",
    )
}

/// A method as it is counted: names that a client makes up would each take a place in memory for good.
fn counted(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

/// Counts the answer, makes a panic an error, and adds the headers that keep browsers careful.
async fn finish(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let method = counted(request.method());
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or("other", MatchedPath::as_str)
        .to_owned();
    let answered = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let mut response = answered.unwrap_or_else(|_| {
        tracing::error!(route, "a handler panicked");
        ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "server_error",
            "this is a fault in Gangway; its log says more",
        )
        .into_response()
    });
    let status = response.status().as_u16();
    tracing::debug!(method, route, status, "answered");
    app.metrics
        .requests
        .get_or_create(&Answered {
            method,
            route,
            status,
        })
        .inc();
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            header::HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (
            header::HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ] {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert_with(|| app.page_policy.clone());
    // Answers of the API hold conversations; no cache has business with them.
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}
