//! From the text of a message to what it asks. Pages send whatever they like: nothing here may break, or talk back at length.

use serde_json::Value;

use crate::wire::channel::AppletAsk;

/// Characters of a message's id.
const ID: usize = 100;

/// Characters of what is said about a message; what the page wrote itself need not come back whole.
const WORDS: usize = 400;

/// Why a message is not understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Wrong {
    /// Its id, where it has a good one.
    pub id: Option<Value>,
    /// A word for machines.
    pub code: &'static str,
    /// A sentence.
    pub words: String,
}

/// A message as it is meant, with its id, or what is wrong with it; one of more than so many bytes is not looked at.
pub fn read(text: &str, most: usize) -> Result<(Option<Value>, AppletAsk), Wrong> {
    if text.len() > most {
        return Err(Wrong {
            id: None,
            code: "too_large",
            words: format!("a message may have {most} bytes at the most"),
        });
    }
    let wrong = |id, words: String| Wrong {
        id,
        code: "invalid_message",
        words: clipped(words),
    };
    let message: Value = serde_json::from_str(text)
        .map_err(|error| wrong(None, format!("this is not JSON: {error}")))?;
    let id = match message.get("id") {
        None | Some(Value::Null) => None,
        Some(Value::String(id)) if id.chars().count() > ID => {
            return Err(wrong(None, format!("`id` has more than {ID} characters")));
        }
        Some(id @ (Value::String(_) | Value::Number(_))) => Some(id.clone()),
        Some(_) => return Err(wrong(None, "`id` must be a text or a number".to_owned())),
    };
    let Some(kind) = message["type"].as_str().map(str::to_owned) else {
        let words = format!("`type` is missing; it is one of: {}", AppletAsk::NAMES);
        return Err(wrong(id, words));
    };
    if !AppletAsk::NAMES.split(", ").any(|name| name == kind) {
        let kind: String = kind.chars().take(80).collect();
        let names = AppletAsk::NAMES;
        let words = format!("there is no message {kind:?}; there are: {names}");
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
