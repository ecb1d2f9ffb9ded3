//! Snapshots of the pages on the relay, as MCP resources.

use gangway_core::{ToolError, ToolName, ToolSource};
use gangway_relay::PageTools;
use rmcp::{
    ErrorData,
    model::{Resource, ResourceContents},
};
use serde_json::json;

use super::scope::Scope;
use crate::app::App;

const BEFORE: &str = "gangway://pages/";
const AFTER: &str = "/snapshot";

/// The pages that the sender may read.
pub(super) fn snapshots(app: &App, scope: &Scope) -> Vec<Resource> {
    let pages = app.page_tools.names().into_iter();
    let seen = pages.filter(|page| look(app, scope, page).is_some());
    let listed = seen.map(|page| {
        let mut resource = Resource::new(format!("{BEFORE}{page}{AFTER}"), format!("page {page}"));
        resource.description = Some("What the page shows now, and its tools".to_owned());
        resource.mime_type = Some("application/json".to_owned());
        resource
    });
    listed.collect()
}

/// The snapshot of a page; `None` if the URI is not a page's.
pub(super) async fn snapshot(
    app: &App,
    scope: &Scope,
    uri: &str,
) -> Option<Result<ResourceContents, ErrorData>> {
    let page = uri.strip_prefix(BEFORE)?.strip_suffix(AFTER)?;
    let unknown = || {
        let message = "page not found; resources/list shows all pages";
        ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
    };
    let Some(tool) = look(app, scope, page) else {
        return Some(Err(unknown()));
    };
    let shown = app.page_tools.call(&scope.caller(), &tool, json!({})).await;
    Some(match shown {
        Ok(shown) => Ok(ResourceContents::TextResourceContents {
            uri: uri.to_owned(),
            mime_type: Some("application/json".to_owned()),
            text: shown.to_string(),
            meta: None,
        }),
        Err(ToolError::NotFound(_)) => Err(unknown()),
        Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
    })
}

fn look(app: &App, scope: &Scope, page: &str) -> Option<ToolName> {
    let tool = PageTools::look_at(page)?;
    let seen = scope.allows(app, &tool) && app.toolset.source_of(&tool).is_some();
    seen.then_some(tool)
}
