//! From the text of a message to what it asks.

use axum::extract::ws::Utf8Bytes;
use serde_json::Value;

use super::{
    channel::{Channel, Refusal},
    wire::AppletAsk,
};

/// Characters of a message's id.
const ID: usize = 100;

impl Channel {
    /// A message as it is meant, or what is wrong with it.
    pub(super) fn read(
        &self,
        text: &Utf8Bytes,
    ) -> Result<(Option<Value>, AppletAsk), (Option<Value>, Refusal)> {
        let most = self.app.config.limits.applet_bytes;
        if text.len() > most {
            let words = format!("a message may have {most} bytes at the most");
            return Err((None, Refusal::new("too_large", words)));
        }
        let wrong = |id, words: String| (id, Refusal::new("invalid_message", words));
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
        if !message["type"].is_string() {
            let words = format!("`type` is missing; it is one of: {}", AppletAsk::NAMES);
            return Err(wrong(id, words));
        }
        let kind = message["type"].as_str().unwrap_or_default().to_owned();
        match serde_path_to_error::deserialize::<_, AppletAsk>(message) {
            Ok(ask) => Ok((id, ask)),
            Err(error) if !AppletAsk::NAMES.split(", ").any(|name| name == kind) => {
                drop(error);
                let kind: String = kind.chars().take(80).collect();
                let words = format!(
                    "there is no message {kind:?}; there are: {}",
                    AppletAsk::NAMES
                );
                Err(wrong(id, words))
            }
            Err(error) => Err(wrong(id, format!("{kind}: {}", error.inner()))),
        }
    }
}
