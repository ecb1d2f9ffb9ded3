//! Pages that joined the relay, as this door offers them: their tools, and what they show as a resource.

use std::sync::Arc;

use gangway_core::{Tool, ToolError, ToolName};
use gangway_mcp::ModelNames;
use gangway_relay::PageTools;
use rmcp::{
    ErrorData,
    model::{Resource, ResourceContents},
};
use serde_json::json;

use super::{convert, scope::Scope};
use crate::{server::App, tools::Toolset};

const BEFORE: &str = "gangway://pages/";
const AFTER: &str = "/snapshot";

/// The tools of all pages that the sender may use.
pub(super) async fn tools(app: &App, scope: &Scope) -> Vec<rmcp::model::Tool> {
    let tools = offered(app, scope).await;
    let names = ModelNames::new(tools.iter().map(|tool| &tool.name));
    let listed = tools.iter().filter_map(|tool| {
        let described = json!({ "description": tool.description });
        convert::listed(
            described,
            names.to_model_name(&tool.name)?,
            &tool.input_schema,
        )
    });
    listed.collect()
}

/// The tool of a page that a client means.
pub(super) async fn named(app: &App, scope: &Scope, name: &str) -> Option<ToolName> {
    // Asking all pages what they offer for every unknown name would be a way to keep them busy.
    if !name.starts_with("page") {
        return None;
    }
    // Most names say which page is meant, and a page that is busy need not be asked.
    let pages = app.page_tools.names();
    let plain = pages.iter().find_map(|page| PageTools::plainly(page, name));
    if let Some(tool) = plain
        && scope.allows(app, &tool)
        && Toolset::is_of_page(&app.tools.host, &tool)
    {
        return Some(tool);
    }
    let tools = offered(app, scope).await;
    let names = ModelNames::new(tools.iter().map(|tool| &tool.name));
    names.from_model_name(name).cloned()
}

async fn offered(app: &App, scope: &Scope) -> Vec<Arc<Tool>> {
    // Behind the address of one server there is nothing else.
    if scope.server.is_some() {
        return Vec::new();
    }
    let mut tools = Toolset::told_apart(&app.tools.host, app.page_tools.all().await);
    tools.retain(|tool| scope.allows(app, &tool.name));
    tools
}

/// The pages that the sender may look at.
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

/// What one of them shows now; none where this is not the address of a page.
pub(super) async fn snapshot(
    app: &App,
    scope: &Scope,
    uri: &str,
) -> Option<Result<ResourceContents, ErrorData>> {
    let page = uri.strip_prefix(BEFORE)?.strip_suffix(AFTER)?;
    let unknown = || {
        let message = "there is no such page; resources/list shows them";
        ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
    };
    let Some(tool) = look(app, scope, page) else {
        return Some(Err(unknown()));
    };
    let shown = app.page_tools.call(None, &tool, json!({})).await;
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
    let seen = scope.allows(app, &tool) && Toolset::is_of_page(&app.tools.host, &tool);
    seen.then_some(tool)
}
