//! Open pages over MCP: the tools to read them, for the pages that a key may use, and their state as resources.

use std::sync::Arc;

use gangway_core::{OWN, PageKind, ToolError, ToolName, own_tool};
use gangway_pages::{PREFIX, Page, is_reader, read_pages};
use rmcp::{
    ErrorData,
    model::{Resource, ResourceContents},
};
use serde_json::{Value, json};

use super::{scope::Scope, sessions};
use crate::app::App;

const BEFORE: &str = "gangway://pages/";
const AFTER: &str = "/snapshot";

/// Calls one of the tools for pages; `None` for any other.
pub(super) async fn call(
    app: &Arc<App>,
    scope: &Scope,
    tool: &ToolName,
    arguments: Value,
) -> Option<Result<Value, ToolError>> {
    if !is_reader(tool) {
        return None;
    }
    let mut usable = Vec::new();
    for page in app.pages.all() {
        if may_read(app, scope, &page).await {
            usable.push(page);
        }
    }
    Some(tokio::select! {
        done = read_pages(usable, tool, arguments) => done,
        () = app.http.stop.cancelled() => {
            Err(ToolError::Unavailable("the server is stopping".to_owned()))
        }
    })
}

/// Whether the sender may use the session that a page belongs to.
pub(super) async fn may_use(app: &App, scope: &Scope, page: &Page) -> bool {
    let Some(session) = page.session() else {
        return page.is_offered();
    };
    sessions::check(app, scope, session).await.is_ok()
}

/// Whether the sender may read a page; those on the relay have a tool for that.
async fn may_read(app: &App, scope: &Scope, page: &Page) -> bool {
    let read = match (page.kind, page.server()) {
        (PageKind::Relay, Some(server)) => ToolName::new(server, "look").ok(),
        _ => Some(own_tool("read_page")),
    };
    let allowed = read.is_some_and(|tool| match tool.server() {
        OWN => scope.allows_own(app, &tool),
        _ => scope.allows(app, &tool) && app.toolset.source_of(&tool).is_some(),
    });
    allowed && may_use(app, scope, page).await
}

/// The pages that the sender may read, as resources.
pub(super) async fn snapshots(app: &App, scope: &Scope) -> Vec<Resource> {
    let mut listed = Vec::new();
    for page in app.pages.all() {
        let name = page
            .server()
            .and_then(|server| server.strip_prefix(PREFIX))
            .map(str::to_owned);
        let Some(name) = name else { continue };
        if !may_read(app, scope, &page).await {
            continue;
        }
        let mut resource = Resource::new(format!("{BEFORE}{name}{AFTER}"), format!("page {name}"));
        resource.description = Some("What the page shows now, and its tools".to_owned());
        resource.mime_type = Some("application/json".to_owned());
        listed.push(resource);
    }
    listed
}

/// The snapshot of a page; `None` if the URI is not a page's.
pub(super) async fn snapshot(
    app: &App,
    scope: &Scope,
    uri: &str,
) -> Option<Result<ResourceContents, ErrorData>> {
    let name = uri.strip_prefix(BEFORE)?.strip_suffix(AFTER)?;
    let unknown = || {
        let message = "page not found; resources/list shows all pages";
        ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
    };
    let page = app.pages.of_server(&format!("{PREFIX}{name}"));
    let Some(page) = page else {
        return Some(Err(unknown()));
    };
    if !may_read(app, scope, &page).await {
        return Some(Err(unknown()));
    }
    Some(match page.channel.state().await {
        Ok(shown) => Ok(ResourceContents::TextResourceContents {
            uri: uri.to_owned(),
            mime_type: Some("application/json".to_owned()),
            text: shown.to_string(),
            meta: None,
        }),
        Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
    })
}
