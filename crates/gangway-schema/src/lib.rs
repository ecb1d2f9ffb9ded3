//! Validates arguments against a tool's JSON Schema, which an MCP server or a page wrote.

mod check;
mod weight;

use jsonschema::{Draft, PatternOptions, Retrieve, Uri, Validator};
use serde_json::{Map, Value, json};

pub use check::{Clock, InputSchema, Unchecked};
use weight::refers;

/// Ten times the largest schema seen in the wild.
const MAX_BYTES: usize = 512 * 1024;

/// Validation errors that are reported at once.
const MAX_MISTAKES: usize = 5;

/// Remote references are never fetched.
struct Nowhere;

impl Retrieve for Nowhere {
    fn retrieve(
        &self,
        uri: &Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!("it refers to {uri}, but remote references are not supported").into())
    }
}

/// Required parameters with a default. Some servers list all parameters as required.
pub fn required_defaults(schema: &Value) -> Map<String, Value> {
    let required = schema["required"].as_array().into_iter().flatten();
    let default = |name: &Value| {
        let name = name.as_str()?;
        let default = schema["properties"].get(name)?.get("default")?;
        Some((name.to_owned(), default.clone()))
    };
    required.filter_map(default).collect()
}

/// The schema as models want it: of type object, requiring nothing that has a default.
pub fn normal(schema: &Value) -> Result<Value, String> {
    let Value::Object(fields) = schema else {
        return Err("its input schema is not an object".to_owned());
    };
    let mut fields = fields.clone();
    match fields.get("type") {
        None => {
            fields.insert("type".to_owned(), json!("object"));
        }
        Some(Value::String(kind)) if kind == "object" => {}
        Some(_) => return Err("its input schema is not of type object".to_owned()),
    }
    let defaults = required_defaults(schema);
    if let Some(Value::Array(required)) = fields.get_mut("required") {
        required.retain(|name| {
            name.as_str()
                .is_none_or(|name| !defaults.contains_key(name))
        });
    }
    let schema = Value::Object(fields);
    if schema.to_string().len() > MAX_BYTES {
        return Err(format!("its input schema is larger than {MAX_BYTES} bytes"));
    }
    match weight::too_heavy(&schema) {
        Some(reason) => Err(reason),
        None => Ok(schema),
    }
}

fn checker(schema: &Value) -> Result<Validator, String> {
    build(schema).or_else(|reason| {
        // An unknown dialect is treated as the latest one.
        let Value::Object(fields) = schema else {
            return Err(reason);
        };
        let without: Map<String, Value> = fields
            .iter()
            .filter(|(key, _)| *key != "$schema")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if without.len() == fields.len() {
            return Err(reason);
        }
        build(&Value::Object(without)).map_err(|_| reason)
    })
}

fn build(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_draft(draft(schema))
        .with_retriever(Nowhere)
        // This engine takes linear time for any pattern.
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
        .map_err(|error| cut(&format!("its input schema is invalid: {error}"), 500))
}

fn draft(schema: &Value) -> Draft {
    let uri = schema["$schema"].as_str().unwrap_or_default();
    [
        ("draft-04", Draft::Draft4),
        ("draft-06", Draft::Draft6),
        ("draft-07", Draft::Draft7),
        ("2019-09", Draft::Draft201909),
    ]
    .into_iter()
    .find(|(part, _)| uri.contains(part))
    .map_or(Draft::Draft202012, |(_, draft)| draft)
}

/// The arguments as the tool takes them, or validation errors. Models like to send `null` for omitted parameters; where
/// that is invalid, it is removed.
fn fitting(checker: &Validator, arguments: Value) -> Result<Value, String> {
    let Err(reason) = check(checker, &arguments) else {
        return Ok(arguments);
    };
    let Value::Object(mut fields) = arguments else {
        return Err(reason);
    };
    let before = fields.len();
    fields.retain(|_, value| !value.is_null());
    let fewer = fields.len() < before;
    let without = Value::Object(fields);
    match fewer && checker.is_valid(&without) {
        true => Ok(without),
        false => Err(reason),
    }
}

/// Validates a value against an untrusted schema.
pub fn fits(schema: &Value, value: &Value) -> Result<(), String> {
    let schema = normal(schema)?;
    check(&checker(&schema)?, value)
}

/// Truncates to so many bytes.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{} … ({} bytes cut)", &text[..end], text.len() - end)
}

fn check(checker: &Validator, arguments: &Value) -> Result<(), String> {
    if checker.is_valid(arguments) {
        return Ok(());
    }
    let mistakes: Vec<String> = checker
        .iter_errors(arguments)
        .take(MAX_MISTAKES)
        .map(|error| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "/" } else { &place };
            cut(&format!("{place}: {error}"), 300)
        })
        .collect();
    Err(mistakes.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_left_out_where_it_does_not_fit_and_kept_where_it_does() {
        let schema = json!({"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string"}, "days": {"type": "integer"}, "note": {"type": ["string", "null"]}}});
        let checker = checker(&schema).unwrap();
        let fits = |value| fitting(&checker, value);
        let stored = json!({"city": "Rome", "note": null});
        assert_eq!(fits(stored.clone()), Ok(stored));
        let message = fits(json!({"city": "Rome", "days": null}));
        assert_eq!(message, Ok(json!({"city": "Rome"})));
        assert!(fits(json!({"city": null})).unwrap_err().contains("/city"));
        assert!(fits(json!([null])).is_err());
    }

    #[test]
    fn arguments_that_do_not_fit_are_reported_with_their_path() {
        let schema = json!({"type": "object", "required": ["city"], "additionalProperties": false,
            "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}}});
        let checker = checker(&schema).unwrap();
        assert_eq!(check(&checker, &json!({"city": "Rome", "days": 2})), Ok(()));
        let wrong = check(&checker, &json!({"days": 0})).unwrap_err();
        assert!(
            wrong.contains("/days:") && wrong.contains("city"),
            "{wrong}"
        );
        assert!(check(&checker, &json!({"city": "Rome", "x": 1})).is_err());
    }

    #[test]
    fn a_broken_schema_is_reported_and_nothing_is_downloaded() {
        for broken in [
            json!({"type": "object", "properties": {"a": {"type": "strnig"}}}),
            json!({"type": "object", "properties": {"a": {"pattern": "("}}}),
            json!({"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}}}),
            json!({"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}}),
            json!({"type": "object", "required": "a"}),
        ] {
            assert!(checker(&broken).is_err(), "{broken}");
        }
        for odd in [
            json!(true),
            json!("x"),
            json!(null),
            json!([]),
            json!({"type": "string"}),
        ] {
            assert!(normal(&odd).is_err(), "{odd}");
        }
        let recursive = json!({"type": "object", "properties": {"a": {"$ref": "#"}}});
        assert!(check(&checker(&recursive).unwrap(), &json!({"a": {"a": {}}})).is_ok());
    }

    #[test]
    fn a_schema_that_doubles_with_every_level_is_read_at_once() {
        let mut parts = Map::new();
        for n in 0..60 {
            let next = json!({ "$ref": format!("#/$defs/a{}", n + 1) });
            parts.insert(
                format!("a{n}"),
                json!({ "properties": { "x": next, "y": next } }),
            );
        }
        parts.insert("a60".to_owned(), json!({ "type": "object" }));
        let schema = json!({ "type": "object", "$defs": parts, "$ref": "#/$defs/a0" });
        assert!(checker(&schema).is_ok());
    }

    #[test]
    fn older_and_unknown_dialects_are_read() {
        for uri in [
            "http://json-schema.org/draft-07/schema#",
            "https://json-schema.org/draft/2020-12/schema",
            "https://example.com/my-own",
        ] {
            let schema =
                json!({"$schema": uri, "type": "object", "properties": {"a": {"type": "string"}}});
            let checker = checker(&schema).unwrap();
            assert!(check(&checker, &json!({"a": 1})).is_err(), "{uri}");
        }
        assert_eq!(normal(&json!({})), Ok(json!({"type": "object"})));
    }
}
