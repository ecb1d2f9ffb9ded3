//! Between what MCP says and what the rest of Gangway says.

use gangway_core::ToolError;
use gangway_mcp::Host;
use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock, ResultType, ServerResult, Tool},
};
use serde_json::{Value, json};

/// A tool of a server under a name of ours; nothing when it is not as the protocol wants it.
pub(super) fn listed(mut described: Value, name: &str, schema: &Value) -> Option<Tool> {
    described["name"] = json!(name);
    // Some servers leave out what clients insist on.
    described["inputSchema"] = schema.clone();
    serde_json::from_value(described).ok()
}

/// One of Gangway's own.
pub(super) fn own(tool: &gangway_core::Tool) -> Option<Tool> {
    let name = tool.name.tool();
    let reads = name.starts_with("get_") || name.starts_with("read_") || name.starts_with("list_");
    let described = json!({
        "description": tool.description,
        "annotations": { "readOnlyHint": reads || name == "applet_howto", "openWorldHint": false },
    });
    listed(described, name, &tool.input_schema)
}

/// What a server answered, for the client that asked.
pub(super) fn forwarded(
    result: Result<ServerResult, ToolError>,
) -> Result<CallToolResult, ErrorData> {
    match result {
        Ok(ServerResult::CallToolResult(mut result)) => {
            // Older servers do not say that they are done, and newer clients insist on it.
            result.result_type.get_or_insert(ResultType::COMPLETE);
            Ok(result)
        }
        // A block of a kind that is not known here is the client's to understand; as text it can at least be read.
        Ok(ServerResult::CustomResult(result)) => Ok(own_result(result.0)),
        Ok(_) => Ok(failure("it answered with something that is no result")),
        Err(error) => refused(error),
    }
}

/// A result that is not too large: its beginning, and how to read on.
pub(super) fn bounded(host: &Host, caller: &str, mut result: CallToolResult) -> CallToolResult {
    let blocks = serde_json::to_value(&result.content).unwrap_or_default();
    let data = result.structured_content.as_ref();
    let cut = data.and_then(|data| host.bound(caller, data));
    let Some(cut) = cut.or_else(|| host.bound(caller, &blocks)) else {
        return result;
    };
    // With pictures beside it, what was cut is still a list of blocks.
    if let Value::Array(_) = &cut
        && let Ok(content) = serde_json::from_value(cut.clone())
    {
        result.content = content;
        return result;
    }
    // A client that was promised data of a certain shape takes no other, except with a failure.
    let promised = data.is_some() || result.is_error == Some(true);
    let mut shown = own_result(cut);
    shown.is_error = Some(promised);
    shown
}

/// A value of ours as a result: for programs as it is, for models as text.
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

/// A list of content blocks, such as a picture with a text, as a result; none for any other value.
pub(super) fn blocks(value: &Value) -> Option<CallToolResult> {
    let blocks: Vec<ContentBlock> = serde_json::from_value(value.clone()).ok()?;
    (!blocks.is_empty()).then(|| CallToolResult::success(blocks))
}

/// A call that did not work. What a model can mend is told to the model; the rest is an error of the protocol.
pub(super) fn refused(error: ToolError) -> Result<CallToolResult, ErrorData> {
    match &error {
        ToolError::NotFound(_) => Err(ErrorData::invalid_params(error.to_string(), None)),
        _ => Ok(failure(&format!("{error} ({})", error.code()))),
    }
}

fn failure(text: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}
