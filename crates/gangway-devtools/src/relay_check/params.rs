//! Validates params against tool schemas, and generates valid and invalid ones.

use serde_json::{Map, Value, json};

const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "array", "object", "any",
];

pub(super) fn schema_problems(schema: &Value) -> Vec<String> {
    let Some(tools) = schema.as_array() else {
        return vec!["toolSchema is not an array".into()];
    };
    let mut problems = Vec::new();
    let mut names = Vec::new();
    for (at, tool) in tools.iter().enumerate() {
        let Some(name) = tool["name"].as_str().filter(|name| !name.is_empty()) else {
            problems.push(format!("toolSchema[{at}] has no name"));
            continue;
        };
        if names.contains(&name) {
            problems.push(format!("{name} is defined twice"));
        }
        names.push(name);
        if !tool["description"].is_string() {
            problems.push(format!("{name} has no description"));
        }
        let Some(parameters) = tool["parameters"].as_object() else {
            problems.push(format!("the parameters of {name} are not an object"));
            continue;
        };
        for (parameter, declared) in parameters {
            let known = declared["type"]
                .as_str()
                .is_some_and(|t| TYPES.contains(&t));
            if !known {
                problems.push(format!(
                    "{name}.{parameter} has type {}, not one of {}",
                    declared["type"],
                    TYPES.join(", ")
                ));
            }
            let optional = declared.get("optional").unwrap_or(&Value::Null);
            if !(optional.is_null() || optional.is_boolean()) {
                problems.push(format!(
                    "optional of {name}.{parameter} is neither true nor false"
                ));
            }
            let choices = declared.get("enum").unwrap_or(&Value::Null);
            if !(choices.is_null() || choices.is_array()) {
                problems.push(format!("enum of {name}.{parameter} is not an array"));
            }
        }
    }
    problems
}

pub(super) fn params_problem(parameters: &Value, params: &Value) -> Option<String> {
    let Some(given) = params.as_object() else {
        return Some("params is not an object".into());
    };
    for (name, declared) in declared(parameters) {
        let Some(value) = given.get(name) else {
            if is_required(declared) {
                return Some(format!("{name} is missing"));
            }
            continue;
        };
        let kind = declared["type"].as_str().unwrap_or("any");
        if !fits(kind, value) {
            return Some(format!("{name} must be of type {kind}"));
        }
        let choices = declared["enum"].as_array();
        if choices.is_some_and(|choices| !choices.contains(value)) {
            return Some(format!("{name} must be one of {}", declared["enum"]));
        }
    }
    let unknown = given.keys().find(|name| parameters.get(name).is_none());
    unknown.map(|name| format!("{name} is not a parameter"))
}

/// Params of a wrong type for a tool, if it takes any.
pub(super) fn wrong_params(parameters: &Value) -> Option<(String, Value)> {
    let mut all = declared(parameters);
    let (name, declared) = all.find(|(_, d)| is_required(d) && d["type"] != "any")?;
    let kind = declared["type"].as_str()?;
    // An object is never accepted as text.
    let wrong = match kind {
        "object" => json!("no object"),
        _ => json!({ "of": "a wrong type" }),
    };
    let mut params = guess(parameters, &Value::Null).unwrap_or_default();
    params.insert(name.clone(), wrong);
    Some((format!("{name} is not a {kind}"), Value::Object(params)))
}

/// Params that may succeed, with ids of visible items. `None` if nothing can be guessed.
pub(super) fn guess(parameters: &Value, spec: &Value) -> Option<Map<String, Value>> {
    let items = spec["visibleItems"].as_array();
    let free = items.and_then(|items| items.iter().find(|item| item["isDisabled"] != true));
    let id = free.map_or(Value::Null, |item| item["id"].clone());
    let mut params = Map::new();
    for (name, declared) in declared(parameters).filter(|(_, d)| is_required(d)) {
        let choices = declared["enum"].as_array();
        let value = match (declared["type"].as_str()?, choices) {
            (_, Some(choices)) => choices.first()?.clone(),
            ("string", _) if name.ends_with("Id") => id.clone(),
            ("array", _) if name.ends_with("Ids") => json!([id]),
            ("string", _) => json!("a check"),
            ("integer" | "number", _) => declared.get("minimum").cloned().unwrap_or(json!(0)),
            ("boolean", _) => json!(true),
            ("any", _) => Value::Null,
            _ => return None,
        };
        params.insert(name.clone(), value);
    }
    Some(params)
}

fn declared(parameters: &Value) -> impl Iterator<Item = (&String, &Value)> {
    parameters.as_object().into_iter().flatten()
}

fn is_required(declared: &Value) -> bool {
    declared["optional"] != true
}

fn fits(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

/// Whether a key occurs anywhere in a value.
pub(super) fn has_key(value: &Value, key: &str) -> bool {
    match value {
        Value::Object(fields) => fields
            .iter()
            .any(|(name, inner)| name == key || has_key(inner, key)),
        Value::Array(items) => items.iter().any(|item| has_key(item, key)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn params_are_held_against_their_schema() {
        let schema = json!({
            "itemId": { "type": "string" },
            "style": { "type": "string", "enum": ["glow"], "optional": true },
            "n": { "type": "integer", "optional": true },
        });
        let problem = |params| params_problem(&schema, &params);
        assert_eq!(problem(json!({ "itemId": "a" })), None);
        for (params, message) in [
            (json!([]), "params is not an object"),
            (json!({}), "itemId is missing"),
            (json!({ "itemId": 1 }), "itemId must be of type string"),
            (
                json!({ "itemId": "a", "n": 1.5 }),
                "n must be of type integer",
            ),
            (
                json!({ "itemId": "a", "style": "x" }),
                r#"style must be one of ["glow"]"#,
            ),
            (json!({ "itemId": "a", "b": 1 }), "b is not a parameter"),
        ] {
            assert_eq!(problem(params).as_deref(), Some(message));
        }
        let (_, wrong) = wrong_params(&schema).unwrap();
        assert!(problem(wrong).is_some());
        let spec = json!({ "visibleItems": [{ "id": "x", "isDisabled": true }, { "id": "y" }] });
        assert_eq!(guess(&schema, &spec).unwrap()["itemId"], "y");
    }
}
