//! Open pages over REST: the person sees them, and connects a site to a session.

use std::sync::Arc;

use axum::{Extension, extract::State, http::StatusCode};
use gangway_core::{PageId, PageKind, SessionId};
use gangway_http::{
    access::{Scope, scope},
    auth::Admitted,
    error::{ApiError, ApiResult},
    extract::{Id, Json},
    feed::page_entry,
    routes::Routes,
};
use gangway_pages::Page;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::app::App;

/// An open page.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct PageInfo {
    pub page_id: String,
    pub kind: page_entry::PageKind,
    /// The app, applet, site or relay session that it is.
    pub name: String,
    pub origin: String,
    pub title: String,
    /// The session whose agents may use its tools.
    pub session_id: Option<String>,
    /// The name of its tool server; none before it offers tools.
    pub server: Option<String>,
    /// Whether it is connected; otherwise it may be reconnecting.
    pub present: bool,
    /// The names of its tools, as they were last offered.
    pub tools: Vec<String>,
}

#[derive(Debug, Serialize, ToSchema, TS)]
pub struct PageList {
    /// In the order of opening.
    pub pages: Vec<PageInfo>,
}

/// The session of a site.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectPage {
    /// `null` disconnects it.
    pub session_id: Option<String>,
}

pub fn routes() -> Routes<Arc<App>> {
    Routes::new()
        .get("/api/pages", scope(Scope::Chat), list)
        .put(
            "/api/pages/{id}/session",
            scope(Scope::Admin).json(),
            connect,
        )
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(list, connect))]
pub struct Documented;

fn info(page: &Page) -> PageInfo {
    let tools = page.last_tools().into_iter();
    PageInfo {
        page_id: page.id.to_string(),
        kind: page.kind.into(),
        name: page.name.clone(),
        origin: page.origin.clone(),
        title: page.title.clone(),
        session_id: page.session().map(|session| session.to_string()),
        server: page.server().map(str::to_owned),
        present: page.is_present(),
        tools: tools.map(|one| one.tool.name.tool().to_owned()).collect(),
    }
}

/// A site whose origin may be made up must not be taken for the real one.
fn is_listed(page: &Arc<Page>) -> bool {
    page.is_verified() || page.session().is_some()
}

/// List the open pages
#[utoipa::path(get, path = "/api/pages", tag = "pages", responses((status = 200, body = PageList)))]
async fn list(
    State(app): State<Arc<App>>,
    Extension(admitted): Extension<Admitted>,
) -> axum::Json<PageList> {
    let mut pages = Vec::new();
    for page in app.pages.all().into_iter().filter(is_listed) {
        let may = match page.session() {
            Some(session) => {
                let checked = admitted.check_session(&app.http, &app.hub, session);
                checked.await.is_ok()
            }
            // It would tell which sites the person has open.
            None => admitted.may(&app.http, Scope::Admin),
        };
        if may {
            pages.push(info(&page));
        }
    }
    axum::Json(PageList { pages })
}

/// Connect a site to a session, whose agents may use its tools then
#[utoipa::path(put, path = "/api/pages/{id}/session", tag = "pages", request_body = ConnectPage,
    params(("id" = String, Path, description = "The page")), responses(
    (status = 204, description = "Connected, or disconnected"),
    (status = 404, description = "The page is closed, or there is no such session", body = ApiError),
    (status = 409, description = "Other pages belong to the session that they were opened in", body = ApiError),
))]
async fn connect(
    State(app): State<Arc<App>>,
    Extension(admitted): Extension<Admitted>,
    Id(id): Id,
    Json(request): Json<ConnectPage>,
) -> ApiResult<StatusCode> {
    let page = id.parse::<PageId>().ok();
    let page = page.and_then(|id| app.pages.find(id)).filter(is_listed);
    let page = page.ok_or_else(|| {
        let message = "page not found; GET /api/pages lists the open pages";
        ApiError::new(StatusCode::NOT_FOUND, "page_not_found", message)
    })?;
    if page.kind != PageKind::Site {
        let message = "only sites are connected to sessions; other pages belong to the session that they were opened in";
        return Err(ApiError::new(StatusCode::CONFLICT, "not_a_site", message));
    }
    let session = request
        .session_id
        .map(|id| id.parse::<SessionId>())
        .transpose();
    let session = session.map_err(|error| ApiError::invalid(format!("`sessionId`: {error}")))?;
    for one in session.into_iter().chain(page.session()) {
        admitted.check_session(&app.http, &app.hub, one).await?;
    }
    if let Some(session) = session {
        app.hub.describe(session).await?;
    }
    app.pages.connect(&page, session);
    Ok(StatusCode::NO_CONTENT)
}
