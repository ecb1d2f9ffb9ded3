//! Ollama, by its native API.

use std::sync::Arc;

use futures_util::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    ChatRequest, Message, ModelError, Piece, Pieces, Provider, ToolCall,
    http::{self, Endpoint, KeyHeader},
    openai,
};

/// A server such as `http://localhost:11434`.
pub struct Ollama {
    endpoint: Endpoint,
}

impl Ollama {
    /// A server at `base`, with a model to use when nobody names one.
    #[must_use]
    pub fn new(base: &str, model: Option<String>) -> Self {
        Self {
            endpoint: Endpoint::new(base, None, KeyHeader::Bearer, model),
        }
    }
}

#[derive(Deserialize)]
struct Tags {
    models: Vec<Tag>,
}

#[derive(Deserialize)]
struct Tag {
    name: String,
}

impl Provider for Ollama {
    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, ModelError>> {
        async {
            let tags: Tags = self
                .endpoint
                .json(self.endpoint.request(Method::GET, "/api/tags"))
                .await?;
            Ok(tags.models.into_iter().map(|tag| tag.name).collect())
        }
        .boxed()
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'_, Result<Pieces<'static>, ModelError>> {
        async move {
            let base = self.endpoint.base();
            let model = self
                .endpoint
                .pick_model(self, request.model.clone())
                .await?;
            let body = body(&model, &request);
            let response = self
                .endpoint
                .send(self.endpoint.request(Method::POST, "/api/chat").json(&body))
                .await?;
            Ok(self.endpoint.guarded(pieces(
                http::lines(response, Arc::clone(base)),
                Arc::clone(base),
            )))
        }
        .boxed()
    }
}

fn body(model: &str, request: &ChatRequest) -> Value {
    let mut body = json!({
        "model": model,
        "messages": request.messages.iter().map(message).collect::<Vec<_>>(),
        "stream": true,
    });
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(openai::tool).collect();
    }
    if let Some(temperature) = request.temperature {
        body["options"]["temperature"] = json!(temperature);
    }
    if let Some(most) = request.max_tokens {
        body["options"]["num_predict"] = json!(most);
    }
    body
}

fn message(message: &Message) -> Value {
    match message {
        Message::System(text) => json!({ "role": "system", "content": text }),
        Message::User(text) => json!({ "role": "user", "content": text }),
        Message::Assistant { text, calls } => {
            let call = |call: &ToolCall| json!({ "function": { "name": call.name, "arguments": call.arguments } });
            let mut said = json!({ "role": "assistant", "content": text });
            if !calls.is_empty() {
                said["tool_calls"] = calls.iter().map(call).collect();
            }
            said
        }
        Message::Tool { name, content, .. } => {
            json!({ "role": "tool", "tool_name": name, "content": content })
        }
    }
}

#[derive(Deserialize)]
struct Line {
    message: Option<Said>,
    #[serde(default)]
    done: bool,
    #[serde(default)]
    prompt_eval_count: u64,
    #[serde(default)]
    eval_count: u64,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    content: String,
    #[serde(default)]
    tool_calls: Vec<Call>,
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

struct Reading {
    lines: BoxStream<'static, Result<Vec<u8>, ModelError>>,
    at: Arc<str>,
    calls: u32,
}

fn pieces(lines: BoxStream<'static, Result<Vec<u8>, ModelError>>, at: Arc<str>) -> Pieces<'static> {
    stream::unfold(
        Some(Reading {
            lines,
            at,
            calls: 0,
        }),
        |reading| async move {
            let mut reading = reading?;
            match reading.next().await {
                Ok((pieces, done)) => {
                    let pieces: Vec<_> = pieces.into_iter().map(Ok).collect();
                    Some((pieces, (!done).then_some(reading)))
                }
                Err(error) => Some((vec![Err(error)], None)),
            }
        },
    )
    .flat_map(stream::iter)
    .boxed()
}

impl Reading {
    async fn next(&mut self) -> Result<(Vec<Piece>, bool), ModelError> {
        let line = self
            .lines
            .next()
            .await
            .ok_or_else(|| ModelError::cut_off(&self.at))??;
        if line.trim_ascii().is_empty() {
            return Ok((Vec::new(), false));
        }
        let line: Line =
            serde_json::from_slice(&line).map_err(|_| ModelError::garbled(&self.at))?;
        if let Some(words) = line.error {
            return Err(ModelError::said(&self.at, &words));
        }
        let mut pieces = Vec::new();
        if let Some(said) = line.message {
            if !said.content.is_empty() {
                pieces.push(Piece::Text(said.content));
            }
            for call in said.tool_calls {
                // Ollama gives calls no names of their own.
                self.calls += 1;
                let arguments = if call.function.arguments.is_object() {
                    call.function.arguments
                } else {
                    json!({})
                };
                pieces.push(Piece::ToolCall(ToolCall {
                    id: format!("call_{}", self.calls),
                    name: call.function.name,
                    arguments,
                }));
            }
        }
        if line.done {
            pieces.push(Piece::Usage {
                input: line.prompt_eval_count,
                output: line.eval_count,
            });
        }
        Ok((pieces, line.done))
    }
}
