//! The tools for the tab that the person has in front, for MCP clients: there while the person lets agents use it.

use std::sync::Arc;

use gangway_core::{Tool, ToolName};
use gangway_mcp::ModelNames;
use rmcp::{ErrorData, model::CallToolResult};
use serde_json::{Value, json};

use super::{convert, scope::Scope};
use crate::{server::App, tools::Toolset};

/// Those that the sender may use.
pub(super) fn tools(app: &App, scope: &Scope) -> Vec<rmcp::model::Tool> {
    let tools = offered(app, scope);
    let names = names_of(&tools);
    let listed = tools.iter().filter_map(|tool| {
        let reads = matches!(tool.name.tool(), "read_page" | "screenshot");
        let described = json!({
            "description": tool.description,
            "annotations": { "readOnlyHint": reads, "openWorldHint": true },
        });
        let name = names.to_model_name(&tool.name)?;
        convert::listed(described, name, &tool.input_schema)
    });
    listed.collect()
}

/// The one that a client means.
pub(super) fn named(app: &App, scope: &Scope, name: &str) -> Option<ToolName> {
    let tools = offered(app, scope);
    names_of(&tools).from_model_name(name).cloned()
}

pub(super) async fn call(
    app: &App,
    scope: &Scope,
    tool: &ToolName,
    arguments: Value,
) -> Result<CallToolResult, ErrorData> {
    let shown = match app.tools.browser.call(tool, arguments).await {
        Ok(shown) => shown,
        Err(error) => return convert::refused(error),
    };
    // A picture comes as blocks.
    let result = match shown.as_array() {
        Some(_) => serde_json::from_value(shown)
            .map(CallToolResult::success)
            .unwrap_or_default(),
        None => convert::own_result(shown),
    };
    let caller = scope.admitted.caller();
    Ok(convert::bounded(&app.tools.host, &caller, result))
}

fn names_of(tools: &[Arc<Tool>]) -> ModelNames {
    ModelNames::new(tools.iter().map(|tool| &tool.name))
}

fn offered(app: &App, scope: &Scope) -> Vec<Arc<Tool>> {
    // Behind the address of one server there is nothing else.
    if scope.server.is_some() {
        return Vec::new();
    }
    let mut tools = Toolset::of_browser(&app.tools.host, &app.tools.browser);
    tools.retain(|tool| scope.allows(app, &tool.name));
    tools
}
