//! Decodes messages of pages. Pages may send anything: nothing here may fail, or echo it at length.

use serde_json::Value;

use crate::wire::channel::AppletClientMessage;

/// Length limit of ids.
const ID: usize = 100;

/// Length limit of error messages, which may quote the page.
const WORDS: usize = 400;

/// An invalid message.
#[derive(Debug, Clone, PartialEq)]
pub struct InvalidMessage {
    /// Its id, if valid.
    pub id: Option<Value>,
    pub code: &'static str,
    pub message: String,
}

/// Decodes a message and its id; messages larger than `most` bytes are not parsed.
pub fn read(
    text: &str,
    most: usize,
) -> Result<(Option<Value>, AppletClientMessage), InvalidMessage> {
    if text.len() > most {
        return Err(InvalidMessage {
            id: None,
            code: "too_large",
            message: format!("a message must be at most {most} bytes"),
        });
    }
    let wrong = |id, reason: String| InvalidMessage {
        id,
        code: "invalid_message",
        message: clipped(reason),
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
        let reason = format!(
            "`type` is missing; it must be one of: {}",
            AppletClientMessage::NAMES
        );
        return Err(wrong(id, reason));
    };
    if !AppletClientMessage::NAMES
        .split(", ")
        .any(|name| name == kind)
    {
        let kind: String = kind.chars().take(80).collect();
        let names = AppletClientMessage::NAMES;
        let reason = format!("unknown message type {kind:?}; known are: {names}");
        return Err(wrong(id, reason));
    }
    match serde_path_to_error::deserialize::<_, AppletClientMessage>(message) {
        Ok(ask) => Ok((id, ask)),
        Err(error) => Err(wrong(id, format!("{kind}: {}", error.inner()))),
    }
}

fn clipped(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(WORDS) {
        message.truncate(end);
        message.push('…');
    }
    message
}
