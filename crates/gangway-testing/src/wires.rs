//! The three provider APIs side by side, for tests of common behavior.

use std::{sync::Arc, time::Duration};

use futures_util::StreamExt;
use gangway_models::{
    ChatChunk, ChatRequest, ModelError, Provider, anthropic::Anthropic, ollama::Ollama,
    openai::OpenAi, remote::Retry,
};
use serde_json::{Value, json};

use crate::fake::Fake;

/// No retries.
pub const ONCE: Retry = Retry {
    times: 0,
    pause: Duration::ZERO,
};

/// Long enough to be redacted as a secret.
pub const KEY: &str = "sk-planted-0123456789abcdef";

/// How one provider encodes its responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    OpenAi,
    Anthropic,
    Ollama,
}

pub const WIRES: [Wire; 3] = [Wire::OpenAi, Wire::Anthropic, Wire::Ollama];

impl Wire {
    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    fn event(self, value: &Value) -> String {
        match self {
            Self::OpenAi => format!("data: {value}\n\n"),
            Self::Anthropic => format!("event: x\ndata: {value}\n\n"),
            Self::Ollama => format!("{value}\n"),
        }
    }

    pub fn text(self, text: &str) -> String {
        self.event(&match self {
            Self::OpenAi => json!({ "choices": [{ "delta": { "content": text } }] }),
            Self::Anthropic => {
                json!({ "type": "content_block_delta", "delta": { "type": "text_delta", "text": text } })
            }
            Self::Ollama => json!({ "message": { "content": text }, "done": false }),
        })
    }

    /// A call of `look` with these arguments, in as many events as the API uses.
    pub fn call(self, arguments: &Value) -> Vec<String> {
        let text = arguments.to_string();
        let (a, b) = text.split_at(text.len() / 2);
        let events = match self {
            Self::OpenAi => {
                let delta = |call: Value| json!({ "choices": [{ "delta": { "content": null, "tool_calls": [call] } }] });
                vec![
                    delta(
                        json!({ "index": 0, "id": "c1", "function": { "name": "look", "arguments": a } }),
                    ),
                    delta(json!({ "index": 0, "function": { "arguments": b } })),
                ]
            }
            Self::Anthropic => {
                let part = |part: &str| json!({ "type": "content_block_delta", "delta": { "type": "input_json_delta", "partial_json": part } });
                vec![
                    json!({ "type": "content_block_start", "content_block": { "type": "tool_use", "id": "c1", "name": "look" } }),
                    part(a),
                    part(b),
                    json!({ "type": "content_block_stop" }),
                ]
            }
            Self::Ollama => {
                let call = json!({ "function": { "name": "look", "arguments": arguments } });
                vec![json!({ "message": { "tool_calls": [call] }, "done": false })]
            }
        };
        events.iter().map(|event| self.event(event)).collect()
    }

    /// The end of a successful answer.
    pub fn end(self) -> String {
        match self {
            Self::OpenAi => {
                let end = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] });
                self.event(&end) + "data: [DONE]\n\n"
            }
            Self::Anthropic => self.event(&json!({ "type": "message_stop" })),
            Self::Ollama => self.event(&json!({ "message": { "content": "" }, "done": true })),
        }
    }

    /// An error in the middle of a stream.
    pub fn error(self, message: &str) -> String {
        self.event(&match self {
            Self::OpenAi => json!({ "error": { "message": message } }),
            Self::Anthropic => {
                json!({ "type": "error", "error": { "type": "api_error", "message": message } })
            }
            Self::Ollama => json!({ "error": message }),
        })
    }

    /// A body that lists one model.
    pub fn list(self, name: &str) -> String {
        let list = match self {
            Self::OpenAi | Self::Anthropic => json!({ "data": [{ "id": name }] }),
            Self::Ollama => json!({ "models": [{ "name": name }] }),
        };
        list.to_string()
    }

    pub fn at(self, base: &str) -> Arc<dyn Provider> {
        let (key, model) = (Some(KEY.to_owned()), Some("m".to_owned()));
        // Far shorter than a user would wait, far longer than a busy machine needs for the next byte from itself.
        let silence = Duration::from_millis(700);
        match self {
            Self::OpenAi => Arc::new(
                OpenAi::new(base, key, model)
                    .retrying(ONCE)
                    .silent_for(silence),
            ),
            Self::Anthropic => Arc::new(
                Anthropic::new(base, key, model)
                    .retrying(ONCE)
                    .silent_for(silence),
            ),
            Self::Ollama => Arc::new(
                Ollama::new(base, key, model)
                    .retrying(ONCE)
                    .silent_for(silence),
            ),
        }
    }

    /// The result of a chat: the chunks before the end, and the error if it failed.
    pub async fn chat(self, fake: &Fake) -> (Vec<ChatChunk>, Option<ModelError>) {
        let provider = self.at(&fake.start().await);
        let mut stream = match provider.chat(ChatRequest::default()).await {
            Ok(stream) => stream,
            Err(error) => return (Vec::new(), Some(error)),
        };
        let mut chunks = Vec::new();
        while let Some(chunk) = stream.next().await {
            match chunk {
                Ok(chunk) => chunks.push(chunk),
                Err(error) => {
                    assert!(stream.next().await.is_none(), "nothing follows an error");
                    return (chunks, Some(error));
                }
            }
        }
        (chunks, None)
    }
}
