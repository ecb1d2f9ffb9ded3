//! `gangway/read_result`, the tool that reads on in a result that was cut.

use std::sync::Arc;

use gangway_core::{OWN, Tool, ToolError, ToolName, own_tool, parse_arguments};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Rest;

const NAME: &str = "read_result";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    handle: String,
    offset: usize,
}

/// The tool, as a model is offered it.
#[must_use]
pub fn tool() -> Arc<Tool> {
    let properties = json!({
        "handle": { "type": "string", "description": "The `handle` of the result" },
        "offset": { "type": "integer", "minimum": 0, "description": "Its `nextOffset`" },
    });
    Arc::new(Tool {
        name: own_tool(NAME),
        description: "Read on in a result that was cut because it was too large.".to_owned(),
        input_schema: json!({
            "type": "object", "properties": properties,
            "required": ["handle", "offset"], "additionalProperties": false,
        }),
    })
}

/// Whether this is its name.
#[must_use]
pub fn is_read_result(tool: &ToolName) -> bool {
    tool.server() == OWN && tool.tool() == NAME
}

/// Calls it; `find` looks a handle up where the caller's results are kept.
pub fn call(
    tool: &ToolName,
    arguments: Value,
    find: impl FnOnce(&str, usize) -> Option<Rest>,
) -> Result<Value, ToolError> {
    let wanted: Arguments = parse_arguments(tool, arguments)?;
    let gone = || {
        let words = "that result is no longer kept; call the tool again";
        ToolError::Failed(words.to_owned())
    };
    let rest = find(&wanted.handle, wanted.offset).ok_or_else(gone)?;
    Ok(json!({ "text": rest.text, "nextOffset": rest.next, "totalBytes": rest.total }))
}
