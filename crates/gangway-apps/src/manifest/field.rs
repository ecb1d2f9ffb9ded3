//! Declared fields of a context or a payload.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use ts_rs::TS;
use utoipa::ToSchema;

use super::{
    front::{Keys, Problems, shown},
    tree::{Node, NodeValue},
};

pub type Fields = BTreeMap<String, Field>;

/// The maximum nesting of fields.
const DEEPEST: usize = 16;

#[derive(Debug, Clone, PartialEq, Serialize, ToSchema, TS)]
pub struct Field {
    /// Any value when absent.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kind: Option<FieldKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
    pub required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    #[schema(value_type = Option<serde_json::Value>)]
    pub default: Option<Value>,
    /// The allowed values.
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown[]")]
    #[schema(value_type = Option<Vec<serde_json::Value>>)]
    pub allowed: Option<Vec<Value>>,
    /// The fields of an object.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(no_recursion)]
    pub properties: Fields,
    /// The items of an array.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    #[schema(no_recursion)]
    pub items: Option<Box<Field>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum FieldKind {
    String,
    Number,
    Boolean,
    Array,
    Object,
    /// A date such as 2026-11-15, or a time such as 2026-11-15T08:00:00Z.
    Date,
}

impl FieldKind {
    const ALL: [(&str, Self); 6] = [
        ("string", Self::String),
        ("number", Self::Number),
        ("boolean", Self::Boolean),
        ("array", Self::Array),
        ("object", Self::Object),
        ("date", Self::Date),
    ];

    fn from_name(name: &str) -> Option<Self> {
        let known = Self::ALL.iter().find(|(known, _)| *known == name);
        known.map(|(_, kind)| *kind)
    }

    /// With an article.
    #[must_use]
    pub fn named(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::Array => "an array",
            Self::Object => "an object",
            Self::Date => "a date (2026-11-15, or 2026-11-15T08:00:00Z)",
        }
    }

    #[must_use]
    pub fn fits(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
            Self::Date => value.as_str().is_some_and(is_date),
        }
    }
}

/// A calendar date, or a time in RFC 3339 format.
fn is_date(text: &str) -> bool {
    if text.len() == 10 {
        return text.parse::<jiff::civil::Date>().is_ok();
    }
    // The parser accepts more forms of ISO 8601 than the RFC.
    let bytes = text.as_bytes();
    let moment = bytes.len() >= 20 && bytes[4] == b'-' && bytes[7] == b'-' && bytes[13] == b':';
    moment
        && matches!(bytes[10], b'T' | b't')
        && !text.contains('[')
        && text.parse::<jiff::Timestamp>().is_ok()
}

impl Field {
    fn new(kind: Option<FieldKind>) -> Self {
        Self {
            kind,
            description: None,
            required: false,
            default: None,
            allowed: None,
            properties: Fields::new(),
            items: None,
        }
    }

    /// Whether a value is allowed.
    #[must_use]
    pub fn admits(&self, value: &Value) -> bool {
        // 1 and 1.0 are the same number.
        let same =
            |one: &Value| one == value || one.as_f64().is_some_and(|n| value.as_f64() == Some(n));
        self.allowed
            .as_ref()
            .is_none_or(|allowed| allowed.iter().any(same))
    }

    /// A field in one line: a type, several types, or its allowed values, as in `easy | hard`.
    pub(super) fn short(text: &str) -> Self {
        let words: Vec<&str> = text.split('|').map(str::trim).collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        match words[..] {
            [] => Self::new(None),
            [word] if FieldKind::from_name(word).is_some() => Self::new(FieldKind::from_name(word)),
            _ if words
                .iter()
                .all(|word| FieldKind::from_name(word).is_some()) =>
            {
                Self::new(None)
            }
            _ => Self {
                allowed: Some(words.iter().map(|word| scalar(word)).collect()),
                ..Self::new(None)
            },
        }
    }
}

/// A word as YAML would parse it.
fn scalar(word: &str) -> Value {
    let word = word.trim_matches(['"', '\'']);
    match word {
        "true" => true.into(),
        "false" => false.into(),
        _ => match word.parse::<serde_json::Number>() {
            Ok(number) => number.into(),
            Err(_) => word.into(),
        },
    }
}

pub(super) fn fields(node: &Node, place: &str, depth: usize, problems: &mut Problems) -> Fields {
    let entries = match &node.part {
        NodeValue::Map(entries) => entries,
        NodeValue::Nothing => return Fields::new(),
        _ => {
            let kind = node.kind();
            problems.error(
                node.line,
                format!("`{place}` must be a map of fields, but is {kind}"),
            );
            return Fields::new();
        }
    };
    let read = entries.iter().map(|entry| {
        let place = format!("{place}.{}", shown(&entry.key));
        let field = field(&entry.value, &place, depth, problems);
        (entry.key.clone(), field)
    });
    read.collect()
}

fn field(node: &Node, place: &str, depth: usize, problems: &mut Problems) -> Field {
    if depth > DEEPEST {
        problems.error(
            node.line,
            format!("`{place}` is nested more than {DEEPEST} levels deep"),
        );
        return Field::new(None);
    }
    if let NodeValue::Text(text) = &node.part {
        if !text.contains('|') && FieldKind::from_name(text.trim()).is_none() {
            problems.error(node.line, unknown(place, text));
            return Field::new(None);
        }
        return Field::short(text);
    }
    let mut keys = Keys::of(node, place, problems);
    let kind = keys.text("type", problems).and_then(|(line, name)| {
        let kind = FieldKind::from_name(&name);
        if kind.is_none() {
            problems.error(line, unknown(&format!("{place}.type"), &name));
        }
        kind
    });
    let mut field = Field::new(kind);
    field.description = keys.text("description", problems).map(|(_, text)| text);
    field.required = keys.truth("required", problems).unwrap_or(false);
    if let Some(entry) = keys.take("properties") {
        let place = format!("{place}.properties");
        field.properties = fields(&entry.value, &place, depth + 1, problems);
        match field.kind {
            None => field.kind = Some(FieldKind::Object),
            Some(FieldKind::Object) => {}
            Some(_) => problems.error(
                entry.line,
                format!("`{place}` is only for fields of type object"),
            ),
        }
    }
    if let Some(entry) = keys.take("items") {
        let place = format!("{place}.items");
        let items = self::field(&entry.value, &place, depth + 1, problems);
        field.items = Some(Box::new(items));
        match field.kind {
            None => field.kind = Some(FieldKind::Array),
            Some(FieldKind::Array) => {}
            Some(_) => problems.error(
                entry.line,
                format!("`{place}` is only for fields of type array"),
            ),
        }
    }
    if let Some(entry) = keys.take("enum") {
        field.allowed = allowed(&entry.value, &format!("{place}.enum"), kind, problems);
    }
    if let Some(entry) = keys.take("default") {
        let default = entry.value.value();
        if let Some(reason) = misfit(&field, &default) {
            problems.warning(entry.value.line, format!("`{place}.default` {reason}"));
        }
        // A default outside of the choices is still used; one of another type is a mistake.
        if field.kind.is_none_or(|kind| kind.fits(&default)) {
            field.default = Some(default);
        }
        if field.required {
            problems.warning(
                entry.line,
                format!("`{place}` is required, so its default is never used"),
            );
        }
    }
    let known = [
        "type",
        "description",
        "required",
        "default",
        "enum",
        "properties",
        "items",
    ];
    keys.finish(&known, problems);
    field
}

fn unknown(place: &str, name: &str) -> String {
    let known: Vec<&str> = FieldKind::ALL.iter().map(|(name, _)| *name).collect();
    format!(
        "`{place}` is {:?}, which is not a type; use one of {}",
        shown(name),
        known.join(", ")
    )
}

fn allowed(
    node: &Node,
    place: &str,
    kind: Option<FieldKind>,
    problems: &mut Problems,
) -> Option<Vec<Value>> {
    let NodeValue::List(items) = &node.part else {
        problems.error(
            node.line,
            format!("`{place}` must be a list, but is {}", node.kind()),
        );
        return None;
    };
    if items.is_empty() {
        problems.error(
            node.line,
            format!("`{place}` is empty, so no value is allowed"),
        );
        return None;
    }
    for item in items {
        if let Some(kind) = kind.filter(|kind| !kind.fits(&item.value())) {
            let value = shown(&item.value().to_string());
            problems.error(
                item.line,
                format!("`{place}` contains {value}, which is not {}", kind.named()),
            );
        }
    }
    Some(items.iter().map(Node::value).collect())
}

/// Why a default is invalid.
fn misfit(field: &Field, default: &Value) -> Option<String> {
    let value = shown(&default.to_string());
    if let Some(kind) = field.kind.filter(|kind| !kind.fits(default)) {
        return Some(format!("is {value}, but must be {}", kind.named()));
    }
    (!field.admits(default)).then(|| format!("is {value}, which is not among its `enum`"))
}
