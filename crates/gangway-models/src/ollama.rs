//! Ollama's native API.

use std::sync::Arc;

use bytes::BytesMut;
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    ChatChunk, ChatRequest, ChatStream, IMAGES, Message, ModelError, ToolCall, ToolChoice,
    ToolSpec,
    guess::sees,
    http,
    incoming::Incoming,
    lenient,
    openai::{self, names_in},
    remote::{self, KeyHeader, Remote},
};

pub struct Wire;

/// A server such as `http://localhost:11434`.
pub type Ollama = Remote<Wire>;

impl remote::Wire for Wire {
    // A local server needs no key; one behind a proxy, or Ollama's own service, does.
    const KEY: KeyHeader = KeyHeader::Bearer;
    const MODELS: &'static str = "/api/tags";
    const CHAT: &'static str = "/api/chat";

    fn names(list: Value) -> Option<Vec<String>> {
        names_in(&list["models"], "name")
    }

    fn body(model: &str, request: &ChatRequest, _at: &str) -> Result<Value, ModelError> {
        Ok(body(model, request))
    }

    fn chunks(incoming: Incoming) -> ChatStream<'static> {
        let at = Arc::clone(&incoming.at);
        chunks(incoming.lines(), at)
    }
}

impl Ollama {
    /// Whether this version supports tools: 0.3.0 or later, or unknown.
    pub async fn knows_tools(&self) -> bool {
        let version = self.json("/api/version").await;
        version.map_or(true, |answer| answer["version"].as_str().is_none_or(is_0_3))
    }
}

fn is_0_3(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().ok());
    match (parts.next().flatten(), parts.next().flatten()) {
        (Some(major), Some(minor)) => (major, minor) >= (0, 3),
        _ => true,
    }
}

fn body(model: &str, request: &ChatRequest) -> Value {
    let mut body = json!({
        "model": model,
        "messages": request.messages.iter().filter(|message| sees(model) || !matches!(message, Message::Images(_))).map(message).collect::<Vec<_>>(),
        "stream": true,
    });
    // A tool cannot be forced, but one that is not offered is not called.
    let offered = |tool: &&ToolSpec| match &request.tool_choice {
        ToolChoice::Auto | ToolChoice::Required => true,
        ToolChoice::Never => false,
        ToolChoice::Named(name) => tool.name == *name,
    };
    let tools: Vec<_> = request.tools.iter().filter(offered).collect();
    if !tools.is_empty() {
        body["tools"] = tools.into_iter().map(openai::tool).collect();
    }
    if let Some(schema) = &request.format {
        body["format"] = schema.clone();
    }
    if let Some(temperature) = request.temperature {
        body["options"]["temperature"] = json!(temperature);
    }
    if let Some(most) = request.max_tokens {
        body["options"]["num_predict"] = json!(most);
    }
    if let Some(share) = request.top_p {
        body["options"]["top_p"] = json!(share);
    }
    if let Some(seed) = request.seed {
        body["options"]["seed"] = json!(seed);
    }
    if !request.stop.is_empty() {
        body["options"]["stop"] = json!(request.stop);
    }
    body
}

fn message(message: &Message) -> Value {
    match message {
        Message::System(text) => json!({ "role": "system", "content": text }),
        Message::User(text) => json!({ "role": "user", "content": text }),
        Message::Images(images) => {
            let images: Vec<_> = images.iter().map(|image| &image.data).collect();
            json!({ "role": "user", "content": IMAGES, "images": images })
        }
        Message::Assistant { text, calls, .. } => {
            let call = |call: &ToolCall| json!({ "function": { "name": call.name, "arguments": call.arguments } });
            let mut entry = json!({ "role": "assistant", "content": text });
            if !calls.is_empty() {
                entry["tool_calls"] = calls.iter().map(call).collect();
            }
            entry
        }
        Message::Tool { name, content, .. } => {
            json!({ "role": "tool", "tool_name": name, "content": content })
        }
    }
}

#[derive(Deserialize)]
struct StreamLine {
    message: Option<LineMessage>,
    #[serde(default)]
    done: bool,
    done_reason: Option<String>,
    #[serde(default, deserialize_with = "lenient::tokens")]
    prompt_eval_count: u64,
    #[serde(default, deserialize_with = "lenient::tokens")]
    eval_count: u64,
    error: Option<String>,
}

#[derive(Deserialize)]
struct LineMessage {
    content: Option<String>,
    tool_calls: Option<Vec<Call>>,
}

#[derive(Deserialize)]
struct Call {
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    arguments: Value,
}

struct OllamaStream {
    lines: BoxStream<'static, Result<BytesMut, ModelError>>,
    at: Arc<str>,
    calls: usize,
}

fn chunks(
    lines: BoxStream<'static, Result<BytesMut, ModelError>>,
    at: Arc<str>,
) -> ChatStream<'static> {
    stream::unfold(
        Some(OllamaStream {
            lines,
            at,
            calls: 0,
        }),
        |reading| async move {
            let mut reading = reading?;
            match reading.next().await {
                Ok((chunks, done)) => {
                    let chunks: Vec<_> = chunks.into_iter().map(Ok).collect();
                    if done {
                        http::finish(reading.lines);
                        return Some((chunks, None));
                    }
                    Some((chunks, Some(reading)))
                }
                Err(error) => Some((vec![Err(error)], None)),
            }
        },
    )
    .flat_map(stream::iter)
    .boxed()
}

impl OllamaStream {
    async fn next(&mut self) -> Result<(Vec<ChatChunk>, bool), ModelError> {
        let line = self
            .lines
            .next()
            .await
            .ok_or_else(|| ModelError::cut_off(&self.at))??;
        if line.trim_ascii().is_empty() {
            return Ok((Vec::new(), false));
        }
        let line: StreamLine = serde_json::from_slice(&line).map_err(|error| {
            // Only the last line can be truncated.
            if error.is_eof() {
                ModelError::cut_off(&self.at)
            } else {
                ModelError::garbled(&self.at)
            }
        })?;
        if let Some(reason) = line.error {
            return Err(ModelError::with_details(&self.at, &reason));
        }
        let mut chunks = Vec::new();
        if let Some(entry) = line.message {
            let text = entry.content.filter(|text| !text.is_empty());
            chunks.extend(text.map(ChatChunk::Text));
            for call in entry.tool_calls.into_iter().flatten() {
                // Ollama's tool calls have no ids.
                self.calls += 1;
                let arguments = if call.function.arguments.is_object() {
                    call.function.arguments
                } else {
                    json!({})
                };
                chunks.push(ChatChunk::ToolCall(ToolCall {
                    id: lenient::call_id(self.calls),
                    name: call.function.name,
                    arguments,
                }));
            }
        }
        if line.done_reason.as_deref() == Some("length") {
            chunks.push(ChatChunk::Truncated);
        }
        if line.done {
            chunks.push(ChatChunk::Usage {
                input: line.prompt_eval_count,
                output: line.eval_count,
            });
        }
        Ok((chunks, line.done))
    }
}
