//! The catalog, for pages and programs.

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

/// Servers on a page unless someone says otherwise.
const USUAL: usize = 30;

/// Servers on a page at the most.
const MOST: usize = 100;

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

/// What to look for.
#[derive(Deserialize)]
struct Look {
    q: Option<String>,
    cursor: Option<String>,
    limit: Option<usize>,
}

/// Look for servers in the catalog
#[utoipa::path(get, path = "/api/mcp/catalog", tag = "tools", params(
    ("q" = Option<String>, Query, description = "Words, the last of them perhaps unfinished; all servers when there are none"),
    ("cursor" = Option<String>, Query, description = "The `nextCursor` of the page before"),
    ("limit" = Option<usize>, Query, description = "Servers on a page, 1 to 100; 30 when not said"),
), responses((status = 200, body = CatalogPage), (status = 400, body = ApiError)))]
async fn search(
    State(state): State<Arc<ToolsState>>,
    Query(look): Query<Look>,
) -> ApiResult<Json<CatalogPage>> {
    let offset: usize = match look.cursor.as_deref() {
        None => 0,
        Some(cursor) => cursor.parse().map_err(|_| {
            ApiError::invalid("`cursor` must be the `nextCursor` of the page before")
        })?,
    };
    let limit = look.limit.unwrap_or(USUAL).clamp(1, MOST);
    let words = look.q.unwrap_or_default();
    Ok(Json(state.tools.find(&words, offset, limit).await?))
}

/// Fetch the catalog anew, or join who does
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

/// List what this machine can run packages with
#[utoipa::path(get, path = "/api/mcp/runtimes", tag = "tools", responses((status = 200, body = RuntimeList)))]
async fn runtimes(State(state): State<Arc<ToolsState>>) -> Json<RuntimeList> {
    Json(state.tools.runtimes().await)
}

impl Tools {
    /// A page of the catalog. What is old is fetched anew meanwhile.
    pub(crate) async fn find(
        &self,
        words: &str,
        offset: usize,
        limit: usize,
    ) -> gangway_core::Result<CatalogPage> {
        self.catalog.look().await?;
        // In this order what is said to be over is what is shown.
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

    /// How the catalog as a whole is.
    pub(crate) async fn catalog_state(&self) -> gangway_core::Result<CatalogState> {
        let (refresh, source) = self.catalog.state().await?;
        Ok(CatalogState {
            total: self.catalog.total().await?,
            refresh,
            source,
        })
    }
}
