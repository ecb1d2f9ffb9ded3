//! OpenAI's chat completions API: OpenAI itself, llamafile, vLLM, LM Studio and many more.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    ChatChunk, ChatRequest, ChatStream, IMAGES, Image, Message, ModelError, Passthrough, ToolCall,
    ToolChoice, ToolSpec,
    guess::sees,
    http,
    incoming::Incoming,
    lenient,
    remote::{self, KeyHeader, Remote},
};

pub struct Wire;

/// A server with a base URL such as `https://api.openai.com/v1`.
pub type OpenAi = Remote<Wire>;

impl remote::Wire for Wire {
    const KEY: KeyHeader = KeyHeader::Bearer;
    const MODELS: &'static str = "/models";
    const CHAT: &'static str = "/chat/completions";

    fn names(list: Value) -> Option<Vec<String>> {
        names_in(&list["data"], "id")
    }

    fn body(model: &str, request: &ChatRequest, at: &str) -> Result<Value, ModelError> {
        Ok(body(model, request, at))
    }

    fn chunks(incoming: Incoming) -> ChatStream<'static> {
        let at = Arc::clone(&incoming.at);
        chunks(incoming.events(), at)
    }
}

/// One field of each entry of a list.
pub(crate) fn names_in(list: &Value, field: &str) -> Option<Vec<String>> {
    let name = |entry: &Value| Some(entry.get(field)?.as_str()?.to_owned());
    list.as_array()?.iter().map(name).collect()
}

fn body(model: &str, request: &ChatRequest, at: &str) -> Value {
    let mut body = json!({
        "model": model,
        "messages": messages(model, &request.messages),
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    // Servers refuse an empty list of tools, and some refuse unknown fields.
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    if let Some(temperature) = request.temperature {
        body["temperature"] = json!(temperature);
    }
    if let Some(most) = request.max_tokens {
        // OpenAI's newer models refuse the old name, other servers do not know the new one.
        let own = at.contains("api.openai.com");
        body[if own {
            "max_completion_tokens"
        } else {
            "max_tokens"
        }] = json!(most);
    }
    if let Some(share) = request.top_p {
        body["top_p"] = json!(share);
    }
    if let Some(seed) = request.seed {
        body["seed"] = json!(seed);
    }
    if !request.stop.is_empty() {
        body["stop"] = json!(request.stop);
    }
    if let Some(schema) = &request.format {
        body["response_format"] = if *schema == json!({ "type": "object" }) {
            json!({ "type": "json_object" })
        } else {
            let format = json!({ "name": "answer", "schema": schema, "strict": request.strict });
            json!({ "type": "json_schema", "json_schema": format })
        };
    }
    match &request.tool_choice {
        // A tool choice without tools is refused.
        _ if request.tools.is_empty() => {}
        ToolChoice::Auto => {}
        ToolChoice::Never => body["tool_choice"] = json!("none"),
        ToolChoice::Required => body["tool_choice"] = json!("required"),
        ToolChoice::Named(name) => {
            body["tool_choice"] = json!({ "type": "function", "function": { "name": name } });
        }
    }
    add_fields(&mut body, &request.fields);
    body
}

/// Adds unknown fields without overwriting known ones.
fn add_fields(body: &mut Value, fields: &Map<String, Value>) {
    if let Value::Object(known) = body {
        for (name, value) in fields {
            known.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
}

/// A tool in the format of OpenAI and Ollama.
pub(crate) fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": { "name": tool.name, "description": tool.description, "parameters": tool.parameters },
    })
}

fn messages(model: &str, messages: &[Message]) -> Vec<Value> {
    let seen = messages
        .iter()
        .filter(|message| sees(model) || !matches!(message, Message::Images(_)));
    seen.map(message).collect()
}

fn message(message: &Message) -> Value {
    match message {
        Message::Images(images) => {
            let part = |image: &Image| {
                let url = format!("data:{};base64,{}", image.mime_type, image.data);
                json!({ "type": "image_url", "image_url": { "url": url } })
            };
            let reported = json!({ "type": "text", "text": IMAGES });
            let parts: Vec<_> = [reported]
                .into_iter()
                .chain(images.iter().map(part))
                .collect();
            json!({ "role": "user", "content": parts })
        }
        Message::System(text) => json!({ "role": "system", "content": text }),
        Message::User(text) => json!({ "role": "user", "content": text }),
        Message::Assistant {
            text,
            calls,
            fields,
        } => {
            let mut entry = json!({ "role": "assistant", "content": text });
            add_fields(&mut entry, fields);
            let call = |call: &ToolCall| {
                json!({
                    "id": call.id,
                    "type": "function",
                    "function": { "name": call.name, "arguments": call.arguments.to_string() },
                })
            };
            if !calls.is_empty() {
                entry["tool_calls"] = calls.iter().map(call).collect();
            }
            entry
        }
        Message::Tool { call, content, .. } => {
            json!({ "role": "tool", "tool_call_id": call, "content": content })
        }
    }
}

#[derive(Deserialize)]
struct Chunk {
    // Some servers send null where others omit a field.
    choices: Option<Vec<Choice>>,
    usage: Option<WireUsage>,
    error: Option<Value>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Delta>,
    finish_reason: Option<String>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Deserialize)]
struct CallDelta {
    index: Option<u32>,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct WireUsage {
    #[serde(default, deserialize_with = "lenient::tokens")]
    prompt_tokens: u64,
    #[serde(default, deserialize_with = "lenient::tokens")]
    completion_tokens: u64,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Fields of every response, which the proxy writes itself.
const OWN_FIELDS: [&str; 7] = [
    "id",
    "object",
    "created",
    "model",
    "index",
    "role",
    "total_tokens",
];

fn passed(rest: Map<String, Value>) -> Map<String, Value> {
    let known = |name: &String, value: &Value| value.is_null() || OWN_FIELDS.contains(&&**name);
    let rest = rest.into_iter();
    rest.filter(|(name, value)| !known(name, value)).collect()
}

/// Far more calls than any model makes at once.
const MOST_CALLS: usize = 256;

/// A call that is still being streamed.
#[derive(Default)]
struct OpenCall {
    id: String,
    name: String,
    arguments: String,
}

struct OpenAiStream {
    events: BoxStream<'static, Result<String, ModelError>>,
    at: Arc<str>,
    calls: BTreeMap<u32, OpenCall>,
    /// Fields of the response that were passed on; most servers repeat them in every chunk.
    answer: Map<String, Value>,
    /// Whether the model sent a finish reason.
    finished: bool,
}

fn chunks(
    events: BoxStream<'static, Result<String, ModelError>>,
    at: Arc<str>,
) -> ChatStream<'static> {
    let reading = OpenAiStream {
        events,
        at,
        calls: BTreeMap::new(),
        answer: Map::new(),
        finished: false,
    };
    stream::unfold(Some(reading), |reading| async move {
        let mut reading = reading?;
        match reading.next().await {
            Ok(Some(chunks)) => Some((
                chunks.into_iter().map(Ok).collect::<Vec<_>>(),
                Some(reading),
            )),
            Ok(None) => {
                http::finish(reading.events);
                None
            }
            Err(error) => Some((vec![Err(error)], None)),
        }
    })
    .flat_map(stream::iter)
    .boxed()
}

impl OpenAiStream {
    async fn next(&mut self) -> Result<Option<Vec<ChatChunk>>, ModelError> {
        let Some(event) = self.events.next().await else {
            return if self.finished {
                Ok(None)
            } else {
                Err(ModelError::cut_off(&self.at))
            };
        };
        let event = event?;
        if event == "[DONE]" {
            // Some servers send no finish reason.
            let last = self.close_calls()?;
            self.finished = true;
            return Ok((!last.is_empty()).then_some(last));
        }
        let chunk: Chunk =
            serde_json::from_str(&event).map_err(|_| ModelError::garbled(&self.at))?;
        if let Some(error) = chunk.error {
            return Err(ModelError::with_details(&self.at, &http::words_in(&error)));
        }
        let mut chunks = Vec::new();
        let mut extra = Passthrough {
            answer: passed(chunk.rest),
            ..Passthrough::default()
        };
        let answer = &mut self.answer;
        extra
            .answer
            .retain(|name, value| answer.get(name) != Some(&*value));
        answer.extend(extra.answer.clone());
        if let Some(choice) = chunk.choices.into_iter().flatten().next() {
            extra.choice = passed(choice.rest);
            if let Some(delta) = choice.delta {
                extra.message = passed(delta.rest);
                let text = delta.content.filter(|text| !text.is_empty());
                chunks.extend(text.map(ChatChunk::Text));
                let calls = delta.tool_calls.into_iter().flatten();
                calls.for_each(|call| self.add(call));
                if self.calls.len() > MOST_CALLS {
                    let message = format!(
                        "The model at {} made more than {MOST_CALLS} tool calls at once.",
                        self.at
                    );
                    return Err(ModelError::failed(message));
                }
            }
            if let Some(reason) = choice.finish_reason {
                self.finished = true;
                chunks.extend(self.close_calls()?);
                if reason == "length" {
                    chunks.push(ChatChunk::Truncated);
                }
            }
        }
        if let Some(usage) = chunk.usage {
            extra.usage = passed(usage.rest);
            chunks.push(ChatChunk::Usage {
                input: usage.prompt_tokens,
                output: usage.completion_tokens,
            });
        }
        if !extra.is_empty() {
            chunks.insert(0, ChatChunk::Passed(extra));
        }
        Ok(Some(chunks))
    }

    fn close_calls(&mut self) -> Result<Vec<ChatChunk>, ModelError> {
        let calls = std::mem::take(&mut self.calls).into_values().enumerate();
        calls
            .map(|(n, call)| close(n, call, &self.at).map(ChatChunk::ToolCall))
            .collect()
    }

    fn add(&mut self, delta: CallDelta) {
        let call = self.calls.entry(delta.index.unwrap_or(0)).or_default();
        if let Some(id) = delta.id {
            call.id = id;
        }
        if let Some(function) = delta.function {
            call.name.push_str(&function.name.unwrap_or_default());
            call.arguments
                .push_str(&function.arguments.unwrap_or_default());
        }
    }
}

fn close(number: usize, call: OpenCall, at: &str) -> Result<ToolCall, ModelError> {
    let arguments = parse_arguments(&call.arguments, at)?;
    let id = Some(call.id).filter(|id| !id.is_empty());
    Ok(ToolCall {
        id: id.unwrap_or_else(|| lenient::call_id(number)),
        name: call.name,
        arguments,
    })
}

/// Arguments as JSON text; empty text means an empty object.
pub(crate) fn parse_arguments(text: &str, at: &str) -> Result<Value, ModelError> {
    if text.trim().is_empty() {
        return Ok(json!({}));
    }
    match serde_json::from_str(text) {
        Ok(arguments @ Value::Object(_)) => Ok(arguments),
        _ => Err(ModelError::failed(format!(
            "The model at {at} called a tool with arguments that are not a JSON object."
        ))),
    }
}
