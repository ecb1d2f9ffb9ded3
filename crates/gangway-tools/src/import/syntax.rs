//! Parses config files: JSON, JSON with comments, TOML or YAML, into one value type.

use std::path::Path;

use anyhow::Context;
use serde_json::{Map, Value};

/// Parses by extension; without a known one tries JSON, TOML, then YAML.
pub(super) fn parse(file: &Path, text: &str) -> anyhow::Result<Value> {
    let ending = file.extension().and_then(|ending| ending.to_str());
    match ending {
        Some("toml") => toml(text),
        Some("yaml" | "yml") => yaml(text),
        Some("json" | "jsonc" | "json5") => json(text),
        _ => json(text).or_else(|error| toml(text).or_else(|_| yaml(text)).map_err(|_| error)),
    }
}

fn json(text: &str) -> anyhow::Result<Value> {
    let value: Value = serde_json::from_str(&without_comments(text)).context("it is not JSON")?;
    anyhow::ensure!(value.is_object(), "it is not a JSON object");
    Ok(value)
}

fn yaml(text: &str) -> anyhow::Result<Value> {
    let value: Value = serde_saphyr::from_str(text).context("it is not YAML")?;
    anyhow::ensure!(value.is_object(), "it has no keys");
    Ok(value)
}

fn toml(text: &str) -> anyhow::Result<Value> {
    let document = toml_edit::Document::parse(text).context("it is not TOML")?;
    Ok(table(document.as_table()))
}

fn table(table: &dyn toml_edit::TableLike) -> Value {
    let fields = table.iter();
    let fields = fields.map(|(name, item)| (name.to_owned(), item_value(item)));
    Value::Object(fields.collect::<Map<_, _>>())
}

fn item_value(item: &toml_edit::Item) -> Value {
    if let Some(inner) = item.as_table_like() {
        return table(inner);
    }
    if let Some(tables) = item.as_array_of_tables() {
        return tables.iter().map(|one| table(one)).collect();
    }
    item.as_value().map_or(Value::Null, plain)
}

fn plain(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::from(text.value().as_str()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => Value::from(*number.value()),
        toml_edit::Value::Boolean(truth) => Value::from(*truth.value()),
        toml_edit::Value::Datetime(time) => Value::from(time.value().to_string()),
        toml_edit::Value::Array(items) => items.iter().map(plain).collect(),
        toml_edit::Value::InlineTable(inner) => table(inner),
    }
}

/// Removes comments and trailing commas outside of strings.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.trim_start_matches('\u{feff}').chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('"', _) => {
                out.push(c);
                while let Some(c) = chars.next() {
                    out.push(c);
                    match c {
                        '\\' => out.extend(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            ('/', Some('/')) => while chars.next_if(|c| *c != '\n').is_some() {},
            ('/', Some('*')) => {
                chars.next();
                let mut before = ' ';
                for c in chars.by_ref() {
                    if before == '*' && c == '/' {
                        break;
                    }
                    before = c;
                }
            }
            (']' | '}', _) => {
                let end = out.trim_end().len();
                if out[..end].ends_with(',') {
                    out.truncate(end - 1);
                }
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}
