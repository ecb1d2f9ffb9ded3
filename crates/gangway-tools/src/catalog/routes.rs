//! API of the catalog.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use gangway_http::{
    access::{Scope, scope},
    error::{ApiError, ApiResult},
    extract::Query,
    routes::Routes,
};
use serde::Deserialize;

use super::wire::{CatalogPage, CatalogState, RuntimeList};
use crate::{Tools, ToolsState};

/// Default page size.
const USUAL: usize = 30;

/// Maximum page size.
const MAX_PAGE: usize = 100;

/// Routes of the catalog.
#[must_use]
pub fn routes() -> Routes<Arc<ToolsState>> {
    Routes::new()
        .get("/api/mcp/catalog", scope(Scope::Admin), search)
        .post("/api/mcp/catalog/refresh", scope(Scope::Admin), refresh)
        .get("/api/mcp/runtimes", scope(Scope::Admin), runtimes)
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(search, refresh, runtimes,))]
pub struct Documented;

/// A search.
#[derive(Deserialize)]
struct SearchQuery {
    q: Option<String>,
    cursor: Option<String>,
    limit: Option<usize>,
}

/// Search the catalog
#[utoipa::path(get, path = "/api/mcp/catalog", tag = "tools", params(
    ("q" = Option<String>, Query, description = "Search words, of which the last may be incomplete; default is all servers"),
    ("cursor" = Option<String>, Query, description = "The `nextCursor` of the previous page"),
    ("limit" = Option<usize>, Query, description = "Page size, 1 to 100; default is 30"),
), responses((status = 200, body = CatalogPage), (status = 400, body = ApiError)))]
async fn search(
    State(state): State<Arc<ToolsState>>,
    Query(look): Query<SearchQuery>,
) -> ApiResult<Json<CatalogPage>> {
    let offset: usize = match look.cursor.as_deref() {
        None => 0,
        Some(cursor) => cursor.parse().map_err(|_| {
            ApiError::invalid("`cursor` must be the `nextCursor` of the previous page")
        })?,
    };
    let limit = look.limit.unwrap_or(USUAL).clamp(1, MAX_PAGE);
    let words = look.q.unwrap_or_default();
    Ok(Json(state.tools.find(&words, offset, limit).await?))
}

/// Refresh the catalog, or join a running refresh
#[utoipa::path(post, path = "/api/mcp/catalog/refresh", tag = "tools", responses((status = 202, body = CatalogState)))]
async fn refresh(
    State(state): State<Arc<ToolsState>>,
) -> ApiResult<(StatusCode, Json<CatalogState>)> {
    state.tools.catalog.refresh();
    Ok((
        StatusCode::ACCEPTED,
        Json(state.tools.catalog_state().await?),
    ))
}

/// List the package runtimes of this machine
#[utoipa::path(get, path = "/api/mcp/runtimes", tag = "tools", responses((status = 200, body = RuntimeList)))]
async fn runtimes(State(state): State<Arc<ToolsState>>) -> Json<RuntimeList> {
    Json(state.tools.runtimes().await)
}

impl Tools {
    /// A page of the catalog. An old catalog is refreshed in the background.
    pub(crate) async fn find(
        &self,
        words: &str,
        offset: usize,
        limit: usize,
    ) -> gangway_core::Result<CatalogPage> {
        self.catalog.look().await?;
        // In this order, a state of "done" implies that the new entries are displayed.
        let (refresh, source) = self.catalog.state().await?;
        let hits = self.catalog.search(words, offset, limit).await?;
        let next = offset.saturating_add(limit);
        Ok(CatalogPage {
            servers: hits
                .servers
                .into_iter()
                .map(|one| self.shown(one))
                .collect(),
            total: hits.total,
            next_cursor: (next < hits.total).then(|| next.to_string()),
            refresh,
            source,
        })
    }

    /// The state of the catalog.
    pub(crate) async fn catalog_state(&self) -> gangway_core::Result<CatalogState> {
        let (refresh, source) = self.catalog.state().await?;
        Ok(CatalogState {
            total: self.catalog.total().await?,
            refresh,
            source,
        })
    }
}
