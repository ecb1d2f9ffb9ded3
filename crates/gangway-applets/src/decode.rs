//! Decodes messages of pages. Pages may send anything: nothing here may fail, or echo it at length.

use serde_json::Value;

use crate::wire::channel::AppletAsk;

/// Length limit of ids.
const ID: usize = 100;

/// Length limit of error messages, which may quote the page.
const WORDS: usize = 400;

/// An invalid message.
#[derive(Debug, Clone, PartialEq)]
pub struct Wrong {
    /// Its id, if valid.
    pub id: Option<Value>,
    pub code: &'static str,
    pub words: String,
}

/// Decodes a message and its id; messages larger than `most` bytes are not parsed.
pub fn read(text: &str, most: usize) -> Result<(Option<Value>, AppletAsk), Wrong> {
    if text.len() > most {
        return Err(Wrong {
            id: None,
            code: "too_large",
            words: format!("a message must be at most {most} bytes"),
        });
    }
    let wrong = |id, words: String| Wrong {
        id,
        code: "invalid_message",
        words: clipped(words),
    };
    let message: Value = serde_json::from_str(text)
        .map_err(|error| wrong(None, format!("invalid JSON: {error}")))?;
    let id = match message.get("id") {
        None | Some(Value::Null) => None,
        Some(Value::String(id)) if id.chars().count() > ID => {
            return Err(wrong(None, format!("`id` must be at most {ID} characters")));
        }
        Some(id @ (Value::String(_) | Value::Number(_))) => Some(id.clone()),
        Some(_) => return Err(wrong(None, "`id` must be a string or a number".to_owned())),
    };
    let Some(kind) = message["type"].as_str().map(str::to_owned) else {
        let words = format!("`type` is missing; it must be one of: {}", AppletAsk::NAMES);
        return Err(wrong(id, words));
    };
    if !AppletAsk::NAMES.split(", ").any(|name| name == kind) {
        let kind: String = kind.chars().take(80).collect();
        let names = AppletAsk::NAMES;
        let words = format!("unknown message type {kind:?}; known are: {names}");
        return Err(wrong(id, words));
    }
    match serde_path_to_error::deserialize::<_, AppletAsk>(message) {
        Ok(ask) => Ok((id, ask)),
        Err(error) => Err(wrong(id, format!("{kind}: {}", error.inner()))),
    }
}

fn clipped(mut words: String) -> String {
    if let Some((end, _)) = words.char_indices().nth(WORDS) {
        words.truncate(end);
        words.push('…');
    }
    words
}
