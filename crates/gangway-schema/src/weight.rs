//! Estimates the work of validating against a schema: a few lines can require more than a lifetime.

use std::collections::HashMap;

use serde_json::Value;

/// Schemas that may apply to a single value; the largest seen in the wild has a few hundred.
const MOST: u64 = 20_000;

/// Whether a schema has references. Without them, the work is at most the size of the schema times that of the value.
pub(crate) fn refers(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let keys = ["$ref", "$dynamicRef", "$recursiveRef"];
            keys.iter().any(|key| fields.contains_key(*key)) || fields.values().any(refers)
        }
        Value::Array(items) => items.iter().any(refers),
        _ => false,
    }
}

/// Why a schema is too expensive.
pub(crate) fn too_heavy(schema: &Value) -> Option<String> {
    let mut scale = Scale {
        root: schema,
        known: HashMap::new(),
    };
    let message = |heavy| match heavy {
        Heavy::Endless => "its input schema has an endless reference cycle".to_owned(),
        Heavy::Large => format!("its input schema expands to more than {MOST} schemas"),
    };
    scale.all(schema).err().map(message)
}

enum Heavy {
    Endless,
    Large,
}

struct Scale<'a> {
    root: &'a Value,
    /// Weights of references; `None` while one is being computed.
    known: HashMap<&'a str, Option<u64>>,
}

impl<'a> Scale<'a> {
    fn all(&mut self, part: &'a Value) -> Result<(), Heavy> {
        match part {
            Value::Object(fields) => {
                self.weigh(part)?;
                fields.values().try_for_each(|value| self.all(value))
            }
            Value::Array(items) => items.iter().try_for_each(|item| self.all(item)),
            _ => Ok(()),
        }
    }

    /// The number of schemas that apply to a value when this one does, including itself.
    fn weigh(&mut self, schema: &'a Value) -> Result<u64, Heavy> {
        let mut weight = 1;
        let lists = ["allOf", "anyOf", "oneOf"];
        let lists = lists.iter().filter_map(|key| schema[*key].as_array());
        let single = ["not", "if", "then", "else"];
        let single = single.iter().filter_map(|key| schema.get(*key));
        let dependent = schema["dependentSchemas"].as_object();
        let dependent = dependent.into_iter().flat_map(|each| each.values());
        for part in lists.flatten().chain(single).chain(dependent) {
            weight += self.weigh(part)?;
        }
        if let Some(reference) = schema["$ref"].as_str() {
            weight += self.behind(reference)?;
        }
        match weight > MOST {
            true => Err(Heavy::Large),
            false => Ok(weight),
        }
    }

    fn behind(&mut self, reference: &'a str) -> Result<u64, Heavy> {
        match self.known.get(reference) {
            Some(Some(weight)) => return Ok(*weight),
            Some(None) => return Err(Heavy::Endless),
            None => {}
        }
        let place = reference.strip_prefix('#');
        let Some(target) = place.and_then(|place| self.root.pointer(place)) else {
            // A reference by id or anchor; validation has a timeout.
            return Ok(1);
        };
        self.known.insert(reference, None);
        let weight = self.weigh(target)?;
        self.known.insert(reference, Some(weight));
        Ok(weight)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn doubling(times: usize) -> Value {
        let mut parts = serde_json::Map::new();
        for n in 0..times {
            let next = json!({ "$ref": format!("#/$defs/a{}", n + 1) });
            parts.insert(format!("a{n}"), json!({ "allOf": [next, next] }));
        }
        parts.insert(format!("a{times}"), json!({ "type": "object" }));
        json!({ "type": "object", "$defs": parts, "properties": { "x": { "$ref": "#/$defs/a0" } } })
    }

    #[test]
    fn a_schema_that_unfolds_into_millions_is_too_heavy() {
        assert!(too_heavy(&doubling(40)).unwrap().contains("expands"));
        assert!(too_heavy(&doubling(8)).is_none());
        for endless in [
            json!({ "allOf": [{ "$ref": "#" }] }),
            json!({ "properties": { "a": { "anyOf": [{ "$ref": "#/properties/a" }] } } }),
        ] {
            assert!(too_heavy(&endless).unwrap().contains("endless"));
        }
    }

    #[test]
    fn a_tree_and_names_that_look_like_keywords_are_light() {
        let tree = json!({ "type": "object", "properties": {
            "left": { "$ref": "#" }, "right": { "anyOf": [{ "$ref": "#" }, { "type": "null" }] },
            "$ref": { "type": "string" }, "allOf": { "type": "array" }, "not": { "const": { "$ref": "#" } } } });
        assert!(too_heavy(&tree).is_none() && refers(&tree));
        assert!(!refers(
            &json!({ "properties": { "a": { "type": "string" } } })
        ));
        assert!(too_heavy(&json!({ "$ref": "#elsewhere" })).is_none());
    }
}
