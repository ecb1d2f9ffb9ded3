//! The context of a launch: validated against the manifest, with defaults filled in.

use serde::Serialize;
use serde_json::{Map, Value};
use ts_rs::TS;
use utoipa::ToSchema;

use super::manifest::{ContextFields, Field, FieldKind, Fields};

/// Bytes of a context as JSON, data and config together.
pub const LARGEST: usize = 1_000_000;

/// Reported faults.
const MOST: usize = 100;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Context {
    /// With defaults.
    pub data: Map<String, Value>,
    /// With defaults.
    pub config: Map<String, Value>,
    /// Undeclared fields.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema, TS)]
pub struct Fault {
    /// Such as `data.date_range.start`.
    pub path: String,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContextError {
    #[error("data and config have {bytes} bytes of JSON together; the limit is {LARGEST}")]
    TooLarge { bytes: usize },
    #[error("{}", listed(.0))]
    Wrong(Vec<Fault>),
}

fn listed(faults: &[Fault]) -> String {
    let lines: Vec<String> = faults
        .iter()
        .map(|fault| format!("{} {}", fault.path, fault.message))
        .collect();
    lines.join("; ")
}

/// Validates data and config against the declared fields, and fills in defaults.
pub fn complete(
    declared: &ContextFields,
    data: Map<String, Value>,
    config: Map<String, Value>,
) -> Result<Context, ContextError> {
    // First, so that nothing traverses what is too large.
    small_enough(&data, &config)?;
    let mut check = Check::default();
    let mut context = Context {
        data,
        config,
        warnings: Vec::new(),
    };
    check.object("data", &mut context.data, &declared.data);
    check.object("config", &mut context.config, &declared.config);
    if !check.faults.is_empty() {
        return Err(ContextError::Wrong(check.faults));
    }
    // Again with defaults.
    small_enough(&context.data, &context.config)?;
    if declared.declared() {
        context.warnings = undeclared("data", &context.data, &declared.data);
        let more = undeclared("config", &context.config, &declared.config);
        context.warnings.extend(more);
        context.warnings.truncate(MOST);
    }
    Ok(context)
}

fn small_enough(
    data: &Map<String, Value>,
    config: &Map<String, Value>,
) -> Result<(), ContextError> {
    let mut counter = Counter(0);
    // Cannot fail.
    let _ = serde_json::to_writer(&mut counter, data);
    let _ = serde_json::to_writer(&mut counter, config);
    match counter.0 {
        bytes if bytes > LARGEST => Err(ContextError::TooLarge { bytes }),
        _ => Ok(()),
    }
}

struct Counter(usize);

impl std::io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn undeclared(place: &str, given: &Map<String, Value>, fields: &Fields) -> Vec<String> {
    let unknown = given.keys().filter(|key| !fields.contains_key(*key));
    unknown
        .map(|key| format!("{} is not declared by the app", below(place, key)))
        .collect()
}

#[derive(Default)]
struct Check {
    faults: Vec<Fault>,
}

impl Check {
    fn fault(&mut self, path: &str, message: String) {
        if self.faults.len() < MOST {
            self.faults.push(Fault {
                path: path.to_owned(),
                message,
            });
        }
    }

    fn object(&mut self, place: &str, given: &mut Map<String, Value>, fields: &Fields) {
        for (name, field) in fields {
            let path = below(place, name);
            // Agents write null for omitted fields.
            if given.get(name).is_some_and(Value::is_null) && !null_fits(field) {
                given.shift_remove(name);
            }
            match given.get_mut(name) {
                Some(value) => self.value(&path, value, field),
                None if field.required => {
                    self.fault(&path, format!("is required: {}", wanted(field)))
                }
                None => {
                    if let Some(default) = absent(field) {
                        given.insert(name.clone(), default);
                    }
                }
            }
        }
    }

    fn value(&mut self, path: &str, value: &mut Value, field: &Field) {
        if let Some(kind) = field.kind.filter(|kind| !kind.fits(value)) {
            return self.fault(
                path,
                format!("must be {}, not {}", kind.named(), named(value)),
            );
        }
        if !field.admits(value) {
            return self.fault(
                path,
                format!("must be {}, not {}", wanted(field), clipped(value)),
            );
        }
        match value {
            Value::Object(given) => self.object(path, given, &field.properties),
            Value::Array(given) => {
                let Some(items) = &field.items else { return };
                for (nth, item) in given.iter_mut().enumerate() {
                    self.value(&format!("{path}[{nth}]"), item, items);
                }
            }
            _ => {}
        }
    }
}

/// The default of an absent field, or an object of the defaults inside it.
fn absent(field: &Field) -> Option<Value> {
    if let Some(default) = &field.default {
        let mut default = default.clone();
        Check::default().value("", &mut default, field);
        return Some(default);
    }
    if field.kind != Some(FieldKind::Object) {
        return None;
    }
    let (mut check, mut inside) = (Check::default(), Map::new());
    check.object("", &mut inside, &field.properties);
    (check.faults.is_empty() && !inside.is_empty()).then_some(Value::Object(inside))
}

fn null_fits(field: &Field) -> bool {
    let listed = |allowed: &Vec<Value>| allowed.contains(&Value::Null);
    field.allowed.as_ref().is_some_and(listed)
}

/// The expected value, in words.
fn wanted(field: &Field) -> String {
    match (&field.allowed, field.kind) {
        (Some(allowed), _) => {
            let words: Vec<String> = allowed.iter().take(20).map(clipped).collect();
            format!("one of {}", words.join(", "))
        }
        (None, Some(kind)) => kind.named().to_owned(),
        (None, None) => "any value".to_owned(),
    }
}

fn named(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        _ => clipped(value),
    }
}

fn clipped(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The path of a field; a name that could be mistaken for a path is quoted.
fn below(place: &str, name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    match !name.is_empty() && name.len() <= 64 && name.chars().all(plain) {
        true => format!("{place}.{name}"),
        false => format!("{place}[{}]", clipped(&name.into())),
    }
}
