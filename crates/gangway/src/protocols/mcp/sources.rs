//! Tools of sources such as pages and the browser, under prefixed names for MCP clients.

use std::sync::Arc;

use gangway_core::{OWN, Tool, ToolError, ToolName, ToolSource};
use gangway_mcp::ModelNames;
use rmcp::{ErrorData, model::CallToolResult};
use serde_json::{Value, json};

use super::{convert, pages, scope::Scope};
use crate::app::App;

/// Tools of the sources without a prefix.
pub(super) async fn own(app: &App) -> Vec<Arc<Tool>> {
    let mut tools = Vec::new();
    for source in app.toolset.sources().iter().filter(|one| is_own(one)) {
        tools.extend(source.all().await);
    }
    tools
}

fn is_own(source: &Arc<dyn ToolSource>) -> bool {
    source.servers().iter().any(|server| server == OWN)
}

/// The prefixed tools that the sender may use.
pub(super) async fn tools(app: &App, scope: &Scope) -> Vec<rmcp::model::Tool> {
    let mut listed = Vec::new();
    for source in app.toolset.sources() {
        let tools = offered(app, scope, source).await;
        let names = names_of(&tools);
        listed.extend(tools.iter().filter_map(|tool| {
            let mut described = json!({ "description": tool.description });
            if let Some(reads) = source.is_read_only(&tool.name) {
                described["annotations"] = json!({ "readOnlyHint": reads, "openWorldHint": true });
            }
            let name = names.to_model_name(&tool.name)?;
            convert::listed(described, name, &tool.input_schema)
        }));
    }
    listed
}

/// Resolves a tool name of a client.
pub(super) async fn named(app: &App, scope: &Scope, name: &str) -> Option<ToolName> {
    for source in app.toolset.sources() {
        let mut servers = source.servers();
        servers.retain(|server| ModelNames::may_mean_tool_of(server, name));
        if servers.is_empty() {
            continue;
        }
        // Most names identify the tool, so that a busy page need not be asked.
        let plain = name
            .split_once("__")
            .filter(|(server, _)| servers.iter().any(|one| one == server));
        let plain = plain.and_then(|(server, tool)| ToolName::new(server, tool).ok());
        if let Some(tool) = plain
            && allows(app, scope, &tool).await
            && app.toolset.source_of(&tool).is_some()
        {
            return Some(tool);
        }
        let tools = offered(app, scope, source).await;
        if let Some(tool) = names_of(&tools).from_model_name(name) {
            return Some(tool.clone());
        }
    }
    None
}

pub(super) async fn call(
    app: &App,
    scope: &Scope,
    tool: &ToolName,
    arguments: Value,
) -> Result<CallToolResult, ErrorData> {
    let Some(source) = app.toolset.source_of(tool) else {
        return convert::refused(ToolError::NotFound(tool.clone()));
    };
    let shown = match source.call(&scope.caller(), tool, arguments).await {
        Ok(shown) => shown,
        Err(error) => return convert::refused(error),
    };
    let result = convert::blocks(&shown).unwrap_or_else(|| convert::own_result(shown));
    let caller = scope.admitted.caller();
    Ok(convert::bounded(&app.tools.host, &caller, result))
}

fn names_of(tools: &[Arc<Tool>]) -> ModelNames {
    ModelNames::new(tools.iter().map(|tool| &tool.name))
}

async fn offered(app: &App, scope: &Scope, source: &Arc<dyn ToolSource>) -> Vec<Arc<Tool>> {
    // `/mcp/SERVER` has nothing else.
    if scope.server.is_some() || is_own(source) {
        return Vec::new();
    }
    let mut tools = app.toolset.visible(source.all().await);
    tools.retain(|tool| scope.allows(app, &tool.name));
    // The tools of a page are together.
    let mut hidden: Vec<&str> = Vec::new();
    for tool in &tools {
        let server = tool.name.server();
        if !hidden.contains(&server) && !allows(app, scope, &tool.name).await {
            hidden.push(server);
        }
    }
    let hidden: Vec<String> = hidden.into_iter().map(str::to_owned).collect();
    tools.retain(|tool| !hidden.iter().any(|server| server == tool.name.server()));
    tools
}

/// Whether the sender may use a tool, and the session of the page that offers it.
async fn allows(app: &App, scope: &Scope, tool: &ToolName) -> bool {
    if !scope.allows(app, tool) {
        return false;
    }
    match app.pages.of_server(tool.server()) {
        Some(page) => pages::may_use(app, scope, &page).await,
        None => true,
    }
}
