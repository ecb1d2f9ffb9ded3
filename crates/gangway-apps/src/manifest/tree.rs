//! A YAML tree with line numbers.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};
use serde_saphyr::Spanned;

#[derive(Debug, Clone)]
pub(super) struct Node {
    /// From 1.
    pub(super) line: u64,
    pub(super) part: NodeValue,
}

#[derive(Debug, Clone)]
pub(super) enum NodeValue {
    Nothing,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<MapEntry>),
}

#[derive(Debug, Clone)]
pub(super) struct MapEntry {
    pub(super) key: String,
    pub(super) line: u64,
    pub(super) value: Node,
}

/// Parses YAML; an error is a line and a message.
pub(super) fn read(yaml: &str) -> Result<Node, (Option<u64>, String)> {
    let options = serde_saphyr::options! {
        // `no` is a valid choice in a list.
        strict_booleans: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(yaml, options).map_err(|error| {
        let line = error.location().map(|place| place.line());
        let text = error.without_snippet().to_string();
        // The line is reported separately.
        let text = match text.split_once(" at line ") {
            Some((what, _)) => what.to_owned(),
            None => text,
        };
        (line.filter(|line| *line > 0), text)
    })
}

impl Node {
    /// As JSON.
    pub(super) fn value(&self) -> Value {
        match &self.part {
            NodeValue::Nothing => Value::Null,
            NodeValue::Bool(truth) => (*truth).into(),
            NodeValue::Number(number) => Value::Number(number.clone()),
            NodeValue::Text(text) => text.as_str().into(),
            NodeValue::List(items) => items.iter().map(Self::value).collect(),
            NodeValue::Map(entries) => {
                let pairs = entries
                    .iter()
                    .map(|entry| (entry.key.clone(), entry.value.value()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }

    /// The type, for people.
    pub(super) fn kind(&self) -> &'static str {
        match &self.part {
            NodeValue::Nothing => "nothing",
            NodeValue::Bool(_) => "true or false",
            NodeValue::Number(_) => "a number",
            NodeValue::Text(_) => "a text",
            NodeValue::List(_) => "a list",
            NodeValue::Map(_) => "a map",
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<NodeValue>::deserialize(deserializer)?;
        Ok(Self {
            line: spanned.referenced.line(),
            part: spanned.value,
        })
    }
}

impl<'de> Deserialize<'de> for NodeValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PartVisitor)
    }
}

struct PartVisitor;

impl<'de> Visitor<'de> for PartVisitor {
    type Value = NodeValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, true or false, a list or a map")
    }

    fn visit_unit<E>(self) -> Result<NodeValue, E> {
        Ok(NodeValue::Nothing)
    }

    fn visit_none<E>(self) -> Result<NodeValue, E> {
        Ok(NodeValue::Nothing)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<NodeValue, D::Error> {
        NodeValue::deserialize(deserializer)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<NodeValue, E> {
        Ok(NodeValue::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<NodeValue, E> {
        Ok(NodeValue::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<NodeValue, E> {
        Ok(NodeValue::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<NodeValue, E> {
        // Infinity is not valid JSON, so it stays a text.
        Ok(Number::from_f64(number)
            .map_or_else(|| NodeValue::Text(number.to_string()), NodeValue::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<NodeValue, E> {
        Ok(NodeValue::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<NodeValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(NodeValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<NodeValue, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = entries.next_key::<Spanned<String>>()? {
            map.push(MapEntry {
                line: key.referenced.line(),
                key: key.value,
                value: entries.next_value()?,
            });
        }
        Ok(NodeValue::Map(map))
    }
}
