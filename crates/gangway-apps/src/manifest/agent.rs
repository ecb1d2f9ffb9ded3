//! The `agent:` section of `APP.md`.

use super::{
    AgentPart, ContextFields, Delivery, EventPart, Field,
    field::fields,
    front::{Keys, Problems, shown},
    tree::{Node, NodeValue},
};

pub(super) fn agent(node: &Node, problems: &mut Problems) -> AgentPart {
    let mut keys = Keys::of(node, "agent", problems);
    let known = [
        "discoverable",
        "launchable",
        "triggers",
        "provides",
        "requires",
        "context",
        "events",
        "delivery",
    ];
    let part = AgentPart {
        discoverable: keys.truth("discoverable", problems).unwrap_or(true),
        launchable: keys.truth("launchable", problems).unwrap_or(true),
        triggers: keys.texts("triggers", problems),
        provides: keys.texts("provides", problems),
        requires: keys.texts("requires", problems),
        context: keys
            .take("context")
            .map(|entry| context(&entry.value, problems))
            .unwrap_or_default(),
        events: keys
            .take("events")
            .map(|entry| events(&entry.value, problems))
            .unwrap_or_default(),
        delivery: delivery(&mut keys, "delivery", problems).unwrap_or_default(),
    };
    keys.finish(&known, problems);
    part
}

fn delivery(keys: &mut Keys<'_>, key: &str, problems: &mut Problems) -> Option<Delivery> {
    let (line, text) = keys.text(key, problems)?;
    match text.as_str() {
        "turn" => Some(Delivery::Turn),
        "context" => Some(Delivery::Context),
        _ => {
            let (place, text) = (&keys.place, shown(&text));
            problems.error(
                line,
                format!("`{place}{key}` is {text:?}, but must be `turn` or `context`"),
            );
            None
        }
    }
}

/// Parses either form of a context: a map with `data` and `config`, or a list of `name: a | b | c`.
fn context(node: &Node, problems: &mut Problems) -> ContextFields {
    let place = "agent.context";
    let items = match &node.part {
        NodeValue::List(items) => items,
        NodeValue::Map(_) => {
            let mut keys = Keys::of(node, place, problems);
            let mut part = |key: &str, problems: &mut Problems| {
                let entry = keys.take(key)?;
                Some(fields(&entry.value, &format!("{place}.{key}"), 0, problems))
            };
            let data = part("data", problems).unwrap_or_default();
            let config = part("config", problems).unwrap_or_default();
            keys.finish(&["data", "config"], problems);
            return ContextFields { data, config };
        }
        _ => {
            let kind = node.kind();
            problems.error(
                node.line,
                format!("`{place}` must be a map with `data` and `config`, or a list of `name: a | b`, but is {kind}"),
            );
            return ContextFields::default();
        }
    };
    let mut both = ContextFields::default();
    for item in items {
        let Some((name, field)) = listed(item, problems) else {
            continue;
        };
        // A list does not say which of the two a field belongs to, so it is allowed in either.
        both.data.insert(name.clone(), field.clone());
        both.config.insert(name, field);
    }
    both
}

/// An item of a context list: a text, or a map of one key, which is how YAML parses it without quotes.
fn listed(item: &Node, problems: &mut Problems) -> Option<(String, Field)> {
    let place = "agent.context";
    match &item.part {
        NodeValue::Text(text) => {
            let (name, rest) = text.split_once(':').unwrap_or((text, ""));
            let name = name.trim();
            if name.is_empty() || name.contains(char::is_whitespace) {
                problems.error(
                    item.line,
                    format!(
                        "`{place}` contains {:?}, but must contain `name: a | b`",
                        shown(text)
                    ),
                );
                return None;
            }
            Some((name.to_owned(), Field::short(rest)))
        }
        NodeValue::Map(entries) if entries.len() == 1 => {
            let entry = &entries[0];
            let field = match &entry.value.part {
                NodeValue::Map(_) => {
                    let read = fields(item, place, 0, problems);
                    read.into_values().next()?
                }
                NodeValue::List(items) => Field {
                    allowed: Some(items.iter().map(Node::value).collect()),
                    ..Field::short("")
                },
                NodeValue::Text(text) => Field::short(text),
                NodeValue::Nothing => Field::short(""),
                _ => Field::short(&entry.value.value().to_string()),
            };
            Some((entry.key.clone(), field))
        }
        _ => {
            let kind = item.kind();
            problems.error(
                item.line,
                format!("`{place}` must contain items like `name: a | b`, but contains {kind}"),
            );
            None
        }
    }
}

fn events(node: &Node, problems: &mut Problems) -> Vec<EventPart> {
    let place = "agent.events";
    let NodeValue::List(items) = &node.part else {
        let kind = node.kind();
        problems.error(
            node.line,
            format!("`{place}` must be a list, but is {kind}"),
        );
        return Vec::new();
    };
    let mut found: Vec<EventPart> = Vec::new();
    for (nth, item) in items.iter().enumerate() {
        let Some(event) = event(item, &format!("{place}[{nth}]"), problems) else {
            continue;
        };
        if found.iter().any(|other| other.name == event.name) {
            problems.warning(
                item.line,
                format!("duplicate event {}; the first one is used", event.name),
            );
            continue;
        }
        found.push(event);
    }
    found
}

fn event(item: &Node, place: &str, problems: &mut Problems) -> Option<EventPart> {
    if let NodeValue::Text(name) = &item.part {
        return named(name.trim(), item.line, problems).map(|name| EventPart {
            name,
            description: None,
            payload: Default::default(),
            deliver: None,
        });
    }
    let mut keys = Keys::of(item, place, problems);
    let name = match keys.text("name", problems) {
        Some((line, name)) => named(&name, line, problems),
        None => {
            problems.error(item.line, format!("`{place}` has no `name`"));
            None
        }
    };
    let description = keys.text("description", problems).map(|(_, text)| text);
    let payload = keys
        .take("payload")
        .map(|entry| match &entry.value.part {
            // `payload: object` declares no fields.
            NodeValue::Text(_) => Default::default(),
            _ => fields(&entry.value, &format!("{place}.payload"), 0, problems),
        })
        .unwrap_or_default();
    let deliver = delivery(&mut keys, "deliver", problems);
    keys.finish(&["name", "description", "payload", "deliver"], problems);
    Some(EventPart {
        name: name?,
        description,
        payload,
        deliver,
    })
}

fn named(name: &str, line: u64, problems: &mut Problems) -> Option<String> {
    if is_event_name(name) {
        return Some(name.to_owned());
    }
    problems.error(
        line,
        format!(
            "invalid event name {:?}: use lowercase letters, digits and hyphens, beginning with a letter",
            shown(name)
        ),
    );
    None
}

#[must_use]
pub fn is_event_name(name: &str) -> bool {
    let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(plain)
}
