//! Anthropic, by its native Messages API.

use std::sync::Arc;

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    ChatChunk, ChatRequest, ChatStream, Failure, Image, Message, ModelError, Passthrough, ToolCall,
    ToolChoice, ToolSpec, http,
    incoming::Incoming,
    lenient,
    openai::{names_in, parse_arguments},
    remote::{self, KeyHeader, Remote},
};

/// The API version.
const VERSION: &str = "2023-06-01";

/// The API requires a limit in every request; every current model allows this one.
const MAX_TOKENS: u32 = 8192;

pub struct Wire;

/// A server such as `https://api.anthropic.com`.
pub type Anthropic = Remote<Wire>;

impl remote::Wire for Wire {
    const KEY: KeyHeader = KeyHeader::Named("x-api-key");
    const HEADER: Option<(&'static str, &'static str)> = Some(("anthropic-version", VERSION));
    const MODELS: &'static str = "/v1/models?limit=1000";
    const CHAT: &'static str = "/v1/messages";

    fn names(list: Value) -> Option<Vec<String>> {
        names_in(&list["data"], "id")
    }

    fn body(model: &str, request: &ChatRequest, at: &str) -> Result<Value, ModelError> {
        if request.format.is_some() {
            let message = format!(
                "The model at {at} does not support a JSON Schema for its response; give it a tool with that schema instead."
            );
            return Err(ModelError::failed(message));
        }
        Ok(body(model, request))
    }

    fn chunks(incoming: Incoming) -> ChatStream<'static> {
        let at = Arc::clone(&incoming.at);
        chunks(incoming.events(), at)
    }
}

fn body(model: &str, request: &ChatRequest) -> Value {
    let system: Vec<&str> = request
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::System(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let mut body = json!({
        "model": model,
        "max_tokens": request.max_tokens.unwrap_or(MAX_TOKENS),
        "messages": messages(&request.messages),
        "stream": true,
    });
    if !system.is_empty() {
        body["system"] = json!(system.join("\n\n"));
    }
    if !request.tools.is_empty() {
        let tool = |tool: &ToolSpec| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.parameters });
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let Some(temperature) = request.temperature {
        // At most 1.0 here, where others allow 2.0.
        body["temperature"] = json!(temperature.min(1.0));
    }
    if let Some(share) = request.top_p {
        body["top_p"] = json!(share);
    }
    if !request.stop.is_empty() {
        body["stop_sequences"] = json!(request.stop);
    }
    match &request.tool_choice {
        // A tool choice without tools is refused.
        _ if request.tools.is_empty() => {}
        ToolChoice::Auto => {}
        ToolChoice::Never => body["tool_choice"] = json!({ "type": "none" }),
        ToolChoice::Required => body["tool_choice"] = json!({ "type": "any" }),
        ToolChoice::Named(name) => body["tool_choice"] = json!({ "type": "tool", "name": name }),
    }
    body
}

/// Roles must alternate, so consecutive messages of one side become one message with several blocks.
fn messages(messages: &[Message]) -> Vec<Value> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = match message {
            Message::System(_) => continue,
            Message::User(text) => ("user", vec![json!({ "type": "text", "text": text })]),
            Message::Images(images) => {
                let image = |image: &Image| {
                    let source = json!({ "type": "base64", "media_type": image.mime_type, "data": image.data });
                    json!({ "type": "image", "source": source })
                };
                ("user", images.iter().map(image).collect())
            }
            Message::Tool {
                call,
                content,
                failed,
                ..
            } => (
                "user",
                vec![
                    json!({ "type": "tool_result", "tool_use_id": call, "content": content, "is_error": failed }),
                ],
            ),
            Message::Assistant { text, calls, .. } => {
                let texts = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
                let called = calls.iter().map(|call| json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments }));
                ("assistant", texts.into_iter().chain(called).collect())
            }
        };
        match turns.last_mut() {
            Some((last, all)) if *last == role => all.extend(blocks),
            // An empty assistant message would be refused.
            _ if blocks.is_empty() => {}
            _ => turns.push((role, blocks)),
        }
    }
    turns
        .into_iter()
        .map(|(role, content)| json!({ "role": role, "content": content }))
        .collect()
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    MessageStart {
        message: MessageStart,
    },
    ContentBlockStart {
        content_block: Block,
    },
    ContentBlockDelta {
        delta: ContentDelta,
    },
    ContentBlockStop,
    MessageDelta {
        delta: Option<MessageDelta>,
        usage: Option<WireUsage>,
    },
    MessageStop,
    Error {
        error: WireError,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct MessageStart {
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct MessageDelta {
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct WireUsage {
    #[serde(default, deserialize_with = "lenient::tokens")]
    input_tokens: u64,
    #[serde(default, deserialize_with = "lenient::tokens")]
    output_tokens: u64,
    #[serde(default, deserialize_with = "lenient::tokens")]
    cache_read_input_tokens: u64,
    #[serde(default, deserialize_with = "lenient::tokens")]
    cache_creation_input_tokens: u64,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    ToolUse {
        id: String,
        name: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentDelta {
    TextDelta {
        text: String,
    },
    InputJsonDelta {
        partial_json: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct WireError {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    message: String,
}

/// Cached tokens, in OpenAI's format.
fn cached(tokens: u64) -> ChatChunk {
    let details = json!({ "cached_tokens": tokens });
    ChatChunk::Passed(Passthrough {
        usage: Map::from_iter([("prompt_tokens_details".to_owned(), details)]),
        ..Passthrough::default()
    })
}

struct AnthropicStream {
    events: BoxStream<'static, Result<String, ModelError>>,
    at: Arc<str>,
    /// The call being streamed: id, tool, arguments so far.
    call: Option<(String, String, String)>,
    input: u64,
    output: u64,
}

fn chunks(
    events: BoxStream<'static, Result<String, ModelError>>,
    at: Arc<str>,
) -> ChatStream<'static> {
    let reading = AnthropicStream {
        events,
        at,
        call: None,
        input: 0,
        output: 0,
    };
    stream::unfold(Some(reading), |reading| async move {
        let mut reading = reading?;
        match reading.next().await {
            Ok((chunk, true)) => {
                http::finish(reading.events);
                Some((chunk.map(Ok), None))
            }
            Ok((chunk, false)) => Some((chunk.map(Ok), Some(reading))),
            Err(error) => Some((Some(Err(error)), None)),
        }
    })
    .filter_map(std::future::ready)
    .boxed()
}

impl AnthropicStream {
    async fn next(&mut self) -> Result<(Option<ChatChunk>, bool), ModelError> {
        let event = self
            .events
            .next()
            .await
            .ok_or_else(|| ModelError::cut_off(&self.at))??;
        let event: Event =
            serde_json::from_str(&event).map_err(|_| ModelError::garbled(&self.at))?;
        let chunk = match event {
            Event::MessageStart {
                message: MessageStart { usage: Some(usage) },
            } => {
                // `input_tokens` excludes cached tokens; OpenAI's `prompt_tokens` includes them.
                self.input = usage
                    .input_tokens
                    .saturating_add(usage.cache_read_input_tokens)
                    .saturating_add(usage.cache_creation_input_tokens);
                (usage.cache_read_input_tokens > 0).then(|| cached(usage.cache_read_input_tokens))
            }
            Event::ContentBlockStart {
                content_block: Block::ToolUse { id, name },
            } => {
                self.call = Some((id, name, String::new()));
                None
            }
            Event::ContentBlockDelta {
                delta: ContentDelta::TextDelta { text },
            } => (!text.is_empty()).then_some(ChatChunk::Text(text)),
            Event::ContentBlockDelta {
                delta: ContentDelta::InputJsonDelta { partial_json },
            } => {
                if let Some((_, _, arguments)) = &mut self.call {
                    arguments.push_str(&partial_json);
                }
                None
            }
            Event::ContentBlockStop => match self.call.take() {
                Some((id, name, arguments)) => {
                    let arguments = parse_arguments(&arguments, &self.at)?;
                    Some(ChatChunk::ToolCall(ToolCall {
                        id,
                        name,
                        arguments,
                    }))
                }
                None => None,
            },
            Event::MessageDelta { delta, usage } => {
                self.output = usage.map_or(self.output, |usage| usage.output_tokens);
                let reason = delta.and_then(|delta| delta.stop_reason);
                (reason.as_deref() == Some("max_tokens")).then_some(ChatChunk::Truncated)
            }
            Event::MessageStop => {
                return Ok((
                    Some(ChatChunk::Usage {
                        input: self.input,
                        output: self.output,
                    }),
                    true,
                ));
            }
            Event::Error { error } => return Err(self.failed(&error)),
            _ => None,
        };
        Ok((chunk, false))
    }

    fn failed(&self, error: &WireError) -> ModelError {
        let failure = match error.kind.as_str() {
            "rate_limit_error" => Failure::RateLimited,
            "overloaded_error" => Failure::Unavailable,
            "timeout_error" => Failure::Timeout,
            "authentication_error" | "permission_error" => Failure::Unauthorized,
            _ => Failure::Failed,
        };
        ModelError {
            failure,
            ..ModelError::with_details(&self.at, &error.message)
        }
    }
}
