//! A tool result as one JSON value.

use rmcp::model::{CallToolResult, ServerResult};
use serde_json::Value;

use crate::journal::cut;

/// Bytes of a tool's error message.
const MAX_FAILURE: usize = 4096;

/// The value of a result, or the tool's error message.
pub(crate) fn value(result: ServerResult) -> Result<Value, String> {
    match result {
        ServerResult::CallToolResult(result) => typed(result),
        // A block of an unknown type makes the whole result unknown; it is passed on as it is.
        ServerResult::CustomResult(result) => loose(result.0),
        ServerResult::EmptyResult(_) => Ok(Value::Array(Vec::new())),
        _ => Err("it sent a response that is not a tool result".to_owned()),
    }
}

fn typed(result: CallToolResult) -> Result<Value, String> {
    let blocks = || serde_json::to_value(&result.content).unwrap_or_default();
    if result.is_error == Some(true) {
        return Err(failure(&blocks(), result.structured_content.as_ref()));
    }
    let blocks = blocks();
    // Structured content is not repeated as text. Images are only in the blocks.
    match result.structured_content {
        Some(structured) if !structured.is_null() && !has_media(&blocks) => Ok(structured),
        _ => Ok(blocks),
    }
}

/// Whether there are images or audio among the blocks.
pub(crate) fn has_media(blocks: &Value) -> bool {
    let blocks = blocks.as_array().into_iter().flatten();
    blocks
        .into_iter()
        .any(|block| block["type"] == "image" || block["type"] == "audio")
}

fn loose(result: Value) -> Result<Value, String> {
    let blocks = &result["content"];
    if result["isError"] == true {
        return Err(failure(blocks, result.get("structuredContent")));
    }
    match &result["structuredContent"] {
        Value::Null if blocks.is_array() => Ok(blocks.clone()),
        Value::Null => Err("it sent a response that is not a tool result".to_owned()),
        structured => Ok(structured.clone()),
    }
}

fn failure(blocks: &Value, structured: Option<&Value>) -> String {
    let texts: Vec<&str> = blocks
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|block| block["text"].as_str())
        .collect();
    let text = match (texts.is_empty(), structured) {
        (false, _) => texts.join("\n"),
        (true, Some(structured)) => structured.to_string(),
        (true, None) => "it failed without a message".to_owned(),
    };
    cut(&text, MAX_FAILURE)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(result: Value) -> Result<Value, String> {
        value(serde_json::from_value(result).unwrap())
    }

    #[test]
    fn data_is_preferred_to_blocks_and_blocks_are_kept_whole() {
        let text = json!([{"type": "text", "text": "42"}]);
        assert_eq!(
            read(json!({"content": text, "structuredContent": {"n": 42}})),
            Ok(json!({"n": 42}))
        );
        assert_eq!(read(json!({"content": text})), Ok(text.clone()));
        let both = json!([{"type": "text", "text": "42"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]);
        assert_eq!(
            read(json!({"content": both, "structuredContent": {"n": 42}})),
            Ok(both.clone())
        );
        let image = json!([{"type": "image", "data": "AAAA", "mimeType": "image/png"}]);
        assert_eq!(read(json!({"content": image})), Ok(image.clone()));
        let resource = json!([{"type": "resource", "resource": {"uri": "a:b", "text": "x"}}]);
        assert_eq!(read(json!({"content": resource})), Ok(resource.clone()));
    }

    #[test]
    fn a_block_of_an_unknown_kind_is_passed_through() {
        let odd = json!([{"type": "smell", "of": "roses"}, {"type": "text", "text": "x"}]);
        assert_eq!(read(json!({"content": odd})), Ok(odd.clone()));
        assert!(read(json!({"what": 1})).is_err());
        assert!(read(json!({"tools": [], "x": 1})).is_err());
    }

    #[test]
    fn a_failure_has_the_message_of_the_tool() {
        let message = json!([{"type": "text", "text": "no such city"}]);
        assert_eq!(
            read(json!({"content": message, "isError": true})),
            Err("no such city".to_owned())
        );
        assert!(read(json!({"content": [], "isError": true})).is_err());
        let odd = json!([{"type": "smell"}, {"type": "text", "text": "no"}]);
        assert_eq!(
            read(json!({"content": odd, "isError": true})),
            Err("no".to_owned())
        );
    }
}
