//! Conversions between MCP types and Gangway's own.

use gangway_core::ToolError;
use gangway_mcp::Host;
use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock, ResultType, ServerResult, Tool},
};
use serde_json::{Value, json};

/// A tool of an MCP server under our name; `None` when its description is invalid.
pub(super) fn listed(mut described: Value, name: &str, schema: &Value) -> Option<Tool> {
    described["name"] = json!(name);
    // Some servers leave out fields that clients require.
    described["inputSchema"] = schema.clone();
    serde_json::from_value(described).ok()
}

/// A built-in tool.
pub(super) fn own(tool: &gangway_core::Tool) -> Option<Tool> {
    let name = tool.name.tool();
    let reads = name.starts_with("get_") || name.starts_with("read_") || name.starts_with("list_");
    let described = json!({
        "description": tool.description,
        "annotations": { "readOnlyHint": reads || name == "applet_howto", "openWorldHint": false },
    });
    listed(described, name, &tool.input_schema)
}

/// A server's result, for the client that called.
pub(super) fn forwarded(
    result: Result<ServerResult, ToolError>,
) -> Result<CallToolResult, ErrorData> {
    match result {
        Ok(ServerResult::CallToolResult(mut result)) => {
            // Servers of older revisions omit this field, which newer clients require.
            result.result_type.get_or_insert(ResultType::COMPLETE);
            Ok(result)
        }
        // A content block of unknown type is passed on as text, so that it can at least be read.
        Ok(ServerResult::CustomResult(result)) => Ok(own_result(result.0)),
        Ok(_) => Ok(failure("the server did not return a tool result")),
        Err(error) => refused(error),
    }
}

/// Truncates a large result and adds how to read the rest.
pub(super) fn bounded(host: &Host, caller: &str, mut result: CallToolResult) -> CallToolResult {
    let blocks = serde_json::to_value(&result.content).unwrap_or_default();
    let data = result.structured_content.as_ref();
    let cut = data.and_then(|data| host.bound(caller, data));
    let Some(cut) = cut.or_else(|| host.bound(caller, &blocks)) else {
        return result;
    };
    // With images beside it, the truncated text is still a list of blocks.
    if let Value::Array(_) = &cut
        && let Ok(content) = serde_json::from_value(cut.clone())
    {
        result.content = content;
        return result;
    }
    // A client that expects structured content of a schema accepts nothing else, except with an error.
    let promised = data.is_some() || result.is_error == Some(true);
    let mut shown = own_result(cut);
    shown.is_error = Some(promised);
    shown
}

/// A value as a result: structured for programs, text for models.
pub(super) fn own_result(value: Value) -> CallToolResult {
    let text = match &value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    if value.is_object() {
        result.structured_content = Some(value);
    }
    result
}

/// A list of content blocks, such as an image with text, as a result; `None` for any other value.
pub(super) fn blocks(value: &Value) -> Option<CallToolResult> {
    let blocks: Vec<ContentBlock> = serde_json::from_value(value.clone()).ok()?;
    (!blocks.is_empty()).then(|| CallToolResult::success(blocks))
}

/// A failed call. Errors that a model can correct are results; the rest are protocol errors.
pub(super) fn refused(error: ToolError) -> Result<CallToolResult, ErrorData> {
    match &error {
        ToolError::NotFound(_) => Err(ErrorData::invalid_params(error.to_string(), None)),
        _ => Ok(failure(&format!("{error} ({})", error.code()))),
    }
}

fn failure(text: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}
