//! Converts the tools of a page to JSON Schema that every model API accepts.

use gangway_pages::{NAME, OfferedTool, PageTool};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::page_tools::LOOK;

/// Nesting of a parameter.
const DEEPEST: usize = 6;

/// JSON Schema types.
const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// A tool as a page offers it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RelayToolOffer {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: Map<String, Value>,
    #[serde(default)]
    read_only: bool,
}

/// A tool of a page on the relay.
#[derive(Debug)]
pub(crate) struct RelayTool {
    pub(crate) tool: PageTool,
    /// Whether it has a parameter `reason` of its own, which gets the value too.
    pub(crate) own_reason: bool,
}

/// `None` if it is invalid or too large.
pub(crate) fn tool_of(offered: RelayToolOffer) -> Option<RelayTool> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if offered.name == LOOK {
        return None;
    }
    let mut required = vec![json!("reason")];
    let mut properties = Map::new();
    for (name, described) in offered.parameters {
        if name.is_empty() || name.len() > NAME || !name.chars().all(plain) {
            return None;
        }
        if described["optional"] != true && name != "reason" {
            required.push(json!(name));
        }
        properties.insert(name, parameter(&described, DEEPEST)?);
    }
    let own = properties.get("reason");
    let own_reason = own.is_some();
    // A page's own `reason` must accept text.
    let own = own.and_then(|reason| reason.get("type"));
    if own.is_some_and(|kind| kind != "string") {
        return None;
    }
    let why = "Why; shown to the person at the page";
    let reason = json!({ "type": "string", "minLength": 1, "description": why });
    properties.insert("reason".to_owned(), reason);
    let input_schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    let tool = PageTool::new(OfferedTool {
        name: offered.name,
        description: offered.description,
        input_schema: Some(input_schema),
        read_only: offered.read_only,
    });
    Some(RelayTool {
        tool: tool.ok()?,
        own_reason,
    })
}

/// A parameter's JSON Schema; `None` if it is invalid.
fn parameter(described: &Value, depth: usize) -> Option<Value> {
    let described = described.as_object().filter(|_| depth > 0)?;
    let mut schema = Map::new();
    match described.get("type").map(|kind| kind.as_str()) {
        None | Some(Some("any")) => {}
        Some(Some(kind)) if TYPES.contains(&kind) => {
            schema.insert("type".to_owned(), json!(kind));
            if kind == "array" {
                let items = described
                    .get("items")
                    .map_or(Some(json!({})), |items| parameter(items, depth - 1))?;
                schema.insert("items".to_owned(), items);
            }
            if let Some(Value::Object(inner)) =
                described.get("properties").filter(|_| kind == "object")
            {
                let inner = inner
                    .iter()
                    .map(|(name, one)| Some((name.clone(), parameter(one, depth - 1)?)));
                let inner: Option<Map<_, _>> = inner.collect();
                schema.insert("properties".to_owned(), Value::Object(inner?));
            }
        }
        // Other types, such as dates and emails, are strings.
        Some(_) => {
            schema.insert("type".to_owned(), json!("string"));
        }
    }
    if let Some(text) = described.get("description").and_then(Value::as_str) {
        schema.insert("description".to_owned(), json!(text));
    }
    let plain = |value: &&Value| value.is_string() || value.is_number() || value.is_boolean();
    if let Some(Value::Array(choices)) = described.get("enum")
        && !choices.is_empty()
        && choices.iter().all(|value| plain(&value))
    {
        schema.insert("enum".to_owned(), json!(choices));
    }
    for name in ["minimum", "maximum"] {
        if let Some(bound) = described.get(name).filter(|bound| bound.is_number()) {
            schema.insert(name.to_owned(), bound.clone());
        }
    }
    Some(Value::Object(schema))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(offered: Value) -> Option<gangway_core::Tool> {
        let made = tool_of(serde_json::from_value(offered).unwrap())?;
        Some((*made.tool.listed("page-shop")?.tool).clone())
    }

    #[test]
    fn a_page_s_tool_is_described_to_models_with_a_reason_of_its_own() {
        let made = tool(json!({
            "name": "filter", "description": "Narrows.",
            "parameters": {
                "field": { "type": "string", "description": "Which" },
                "value": { "type": "any" },
                "style": { "type": "string", "enum": ["a", "b"], "optional": true },
            },
        }))
        .unwrap();
        assert_eq!(made.name.to_string(), "page-shop/filter");
        assert_eq!(
            made.input_schema["required"],
            json!(["reason", "field", "value"])
        );
        assert_eq!(made.input_schema["properties"]["value"], json!({}));
        assert_eq!(
            made.input_schema["properties"]["style"],
            json!({ "type": "string", "enum": ["a", "b"] })
        );
    }

    #[test]
    fn whatever_a_page_calls_a_type_models_get_one_that_they_know() {
        let made = tool(json!({ "name": "f", "parameters": {
            "day": { "type": "date", "format": "odd", "$ref": "#/x" },
            "list": { "type": "array" },
            "deep": { "type": "object", "properties": { "a": { "type": "array", "items": { "type": "string" } } } },
            "size": { "type": "number", "minimum": 0, "enum": [] },
        } }));
        let properties = &made.unwrap().input_schema["properties"];
        assert_eq!(properties["day"], json!({ "type": "string" }));
        assert_eq!(properties["list"], json!({ "type": "array", "items": {} }));
        assert_eq!(
            properties["deep"]["properties"]["a"]["items"],
            json!({ "type": "string" })
        );
        assert_eq!(
            properties["size"],
            json!({ "type": "number", "minimum": 0 })
        );
    }

    #[test]
    fn what_is_no_tool_or_too_large_is_none() {
        for bad in [
            json!({ "name": "" }),
            json!({ "name": "look" }),
            json!({ "name": "a b" }),
            json!({ "name": "x".repeat(129) }),
            json!({ "name": "a", "parameters": { "p": 7 } }),
            json!({ "name": "a", "parameters": { "p": { "description": "x".repeat(70_000) } } }),
            json!({ "name": "a", "parameters": { "a/b": {} } }),
        ] {
            assert_eq!(tool(bad.clone()), None, "{bad}");
        }
    }
}
