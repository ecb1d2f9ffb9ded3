//! Removes API keys and passwords from responses and error messages.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use serde_json::{Map, Value};

use crate::{ChatChunk, ChatStream, ModelError, Passthrough, ToolCall};

/// Replaces a key.
const MASK: &str = "[key]";

/// A shorter key is a placeholder for servers without keys, such as `ollama` or `not-needed`, which may occur in a
/// response. It is removed from errors only.
const SECRET: usize = 16;

#[derive(Clone)]
pub(crate) struct Redactor {
    key: Option<Arc<str>>,
}

impl Redactor {
    pub(crate) fn new(key: Option<&str>) -> Self {
        Self {
            key: key.filter(|key| !key.is_empty()).map(Arc::from),
        }
    }

    /// For error messages.
    pub(crate) fn words(&self, message: &str) -> String {
        match &self.key {
            Some(key) => message.replace(&**key, MASK),
            None => message.to_owned(),
        }
    }

    /// Redacts and truncates an error. Truncated last: half a key would not be found.
    pub(crate) fn error(&self, mut error: ModelError) -> ModelError {
        error.message = self.words(&error.message);
        error.details = error.details.map(|text| self.words(&text));
        error.code = error.code.map(|code| self.words(&code));
        error.clipped()
    }

    /// For text of a response or a list.
    pub(crate) fn text(&self, text: String) -> String {
        match self.secret() {
            Some(key) if text.contains(&**key) => text.replace(&**key, MASK),
            _ => text,
        }
    }

    fn secret(&self) -> Option<&Arc<str>> {
        self.key.as_ref().filter(|key| key.len() >= SECRET)
    }

    /// Redacts a stream, including a key that is split over several parts.
    pub(crate) fn chunks(&self, chunks: ChatStream<'static>) -> ChatStream<'static> {
        let redactor = self.clone();
        let Some(key) = self.secret().cloned() else {
            let clean = move |chunk: Result<ChatChunk, ModelError>| {
                chunk.map_err(|error| redactor.error(error))
            };
            return chunks.map(clean).boxed();
        };
        let held = Withheld {
            key,
            text: String::new(),
        };
        let state = Some((chunks, held));
        stream::unfold(state, move |state| {
            let redactor = redactor.clone();
            async move {
                let (mut chunks, mut held) = state?;
                let Some(chunk) = chunks.next().await else {
                    let rest: Vec<_> = held.rest().map(Ok).into_iter().collect();
                    return Some((rest, None));
                };
                let clean = match chunk {
                    Ok(ChatChunk::Text(text)) => held.add(&text).map(Ok).into_iter().collect(),
                    other => {
                        let before = held.rest().map(Ok);
                        let other = other
                            .map(|chunk| redactor.chunk(chunk))
                            .map_err(|error| redactor.error(error));
                        before.into_iter().chain([other]).collect()
                    }
                };
                Some((clean, Some((chunks, held))))
            }
        })
        .flat_map(stream::iter)
        .boxed()
    }

    fn chunk(&self, chunk: ChatChunk) -> ChatChunk {
        match chunk {
            ChatChunk::ToolCall(call) => ChatChunk::ToolCall(ToolCall {
                id: self.text(call.id),
                name: self.text(call.name),
                arguments: self.value(call.arguments),
            }),
            ChatChunk::Notice(text) => ChatChunk::Notice(self.text(text)),
            ChatChunk::Passed(passed) => ChatChunk::Passed(Passthrough {
                message: self.fields(passed.message),
                choice: self.fields(passed.choice),
                usage: self.fields(passed.usage),
                answer: self.fields(passed.answer),
            }),
            other => other,
        }
    }

    fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => Value::Object(self.fields(fields)),
            other => other,
        }
    }

    fn fields(&self, fields: Map<String, Value>) -> Map<String, Value> {
        let clean = |(name, value)| (self.text(name), self.value(value));
        fields.into_iter().map(clean).collect()
    }
}

/// The end of a text that may be the beginning of the key.
struct Withheld {
    key: Arc<str>,
    text: String,
}

impl Withheld {
    /// Returns the text that is certainly not part of the key.
    fn add(&mut self, more: &str) -> Option<ChatChunk> {
        self.text.push_str(more);
        if self.text.contains(&*self.key) {
            self.text = self.text.replace(&*self.key, MASK);
        }
        let tail = (1..self.key.len().min(self.text.len() + 1))
            .rev()
            .find(|tail| {
                self.text
                    .as_bytes()
                    .ends_with(&self.key.as_bytes()[..*tail])
            });
        let held = self.text.split_off(self.text.len() - tail.unwrap_or(0));
        let message = std::mem::replace(&mut self.text, held);
        (!message.is_empty()).then_some(ChatChunk::Text(message))
    }

    /// What was held back, at the end of the stream. Most of a key is redacted like the whole key.
    fn rest(&mut self) -> Option<ChatChunk> {
        let text = std::mem::take(&mut self.text);
        match text.len() {
            0 => None,
            1..SECRET => Some(ChatChunk::Text(text)),
            _ => Some(ChatChunk::Text(MASK.to_owned())),
        }
    }
}

/// A URL without user name and password.
#[must_use]
pub fn shown_url(url: &str) -> String {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), url),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest[..end].rfind('@').map_or(0, |at| at + 1);
    format!("{scheme}{}", &rest[host..])
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use serde_json::json;

    use super::*;

    const KEY: &str = "sk-0123456789abcdef";

    fn heard(chunks: Vec<ChatChunk>) -> Vec<ChatChunk> {
        let chunks = stream::iter(chunks.into_iter().map(Ok)).boxed();
        let clean = Redactor::new(Some(KEY)).chunks(chunks);
        let clean: Vec<_> = clean.collect().now_or_never().unwrap();
        clean.into_iter().map(Result::unwrap).collect()
    }

    fn text(chunks: Vec<ChatChunk>) -> String {
        let chunks = chunks.into_iter().map(|chunk| match chunk {
            ChatChunk::Text(text) => text,
            other => panic!("{other:?}"),
        });
        chunks.collect()
    }

    #[test]
    fn a_key_is_found_wherever_it_is_cut() {
        let whole = format!("ä sk- {KEY}{KEY} sk-0 end");
        for a in (0..=whole.len()).filter(|n| whole.is_char_boundary(*n)) {
            for b in (a..=whole.len()).filter(|n| whole.is_char_boundary(*n)) {
                let parts = [&whole[..a], &whole[a..b], &whole[b..]];
                let message = parts.map(|part| ChatChunk::Text(part.into())).into();
                assert_eq!(text(heard(message)), "ä sk- [key][key] sk-0 end", "{a} {b}");
            }
        }
    }

    #[test]
    fn a_beginning_of_the_key_at_the_end_is_reported_unless_it_is_most_of_it() {
        for (message, clean) in [
            ("It is", "It is"),
            ("sk-01", "sk-01"),
            (&KEY[..18], "[key]"),
        ] {
            assert_eq!(text(heard(vec![ChatChunk::Text(message.into())])), clean);
        }
    }

    #[test]
    fn text_that_is_held_back_comes_before_what_follows_it() {
        let call = ToolCall {
            id: "c".into(),
            name: "look".into(),
            arguments: json!({ "a": [KEY], KEY: 1 }),
        };
        let chunks = heard(vec![
            ChatChunk::Text("yes".into()),
            ChatChunk::ToolCall(call),
        ]);
        let clean = ToolCall {
            id: "c".into(),
            name: "look".into(),
            arguments: json!({ "a": ["[key]"], "[key]": 1 }),
        };
        let expected = [
            ChatChunk::Text("ye".into()),
            ChatChunk::Text("s".into()),
            ChatChunk::ToolCall(clean),
        ];
        assert_eq!(chunks, expected);
    }

    #[test]
    fn a_short_key_may_stand_in_answers_and_in_no_error() {
        let redactor = Redactor::new(Some("ollama"));
        assert_eq!(redactor.text("ollama runs".into()), "ollama runs");
        let error = redactor.error(ModelError::failed("no ollama"));
        assert_eq!(error.message, "no [key]");
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (url, shown) in [
            ("http://me:pw@nas:11434/v1", "http://nas:11434/v1"),
            ("http://nas/a@b", "http://nas/a@b"),
            ("me:p@w@nas", "nas"),
            ("https://api.example/v1", "https://api.example/v1"),
        ] {
            assert_eq!(shown_url(url), shown);
        }
    }
}
