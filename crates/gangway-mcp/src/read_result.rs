//! `gangway/read_result`, the tool that reads more of a truncated result.

use std::sync::Arc;

use gangway_core::{OWN, Tool, ToolError, ToolName, parse_arguments};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ResultPart;

const NAME: &str = "read_result";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    handle: String,
    offset: usize,
}

#[must_use]
pub fn tool() -> Arc<Tool> {
    let properties = json!({
        "handle": { "type": "string", "description": "The `handle` of the result" },
        "offset": { "type": "integer", "minimum": 0, "description": "Its `nextOffset`" },
    });
    let description = "Read more of a result that was truncated because it was too large.";
    Tool::own(NAME, description, properties, &["handle", "offset"])
}

#[must_use]
pub fn is_read_result(tool: &ToolName) -> bool {
    tool.server() == OWN && tool.tool() == NAME
}

/// Calls it; `find` looks up a handle.
pub fn call(
    tool: &ToolName,
    arguments: Value,
    find: impl FnOnce(&str, usize) -> Option<ResultPart>,
) -> Result<Value, ToolError> {
    let wanted: Arguments = parse_arguments(tool, arguments)?;
    let gone = || {
        let message = "the result is no longer available; call the tool again";
        ToolError::Failed(message.to_owned())
    };
    let rest = find(&wanted.handle, wanted.offset).ok_or_else(gone)?;
    Ok(json!({ "text": rest.text, "nextOffset": rest.next, "totalBytes": rest.total }))
}
