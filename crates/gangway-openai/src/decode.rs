//! Converts OpenAI's request to ours, with an error for every invalid field.

use gangway_http::error::{ApiError, ApiResult};
use gangway_models::{ChatRequest, Message, ToolCall, ToolChoice, ToolSpec};
use serde_json::{Value, json};

use super::wire::{ChatCompletion, Content, Stop, WireCall, WireMessage, WireTool};

/// Maximum number of tools in a request; far more than models can handle.
const TOOLS: usize = 256;

/// Converts the request.
pub(super) fn request(body: ChatCompletion) -> ApiResult<ChatRequest> {
    if body.messages.is_empty() {
        return Err(ApiError::invalid("`messages` must not be empty"));
    }
    if body.n.is_some_and(|n| n != 1) {
        return Err(ApiError::invalid("`n` must be 1"));
    }
    within("temperature", body.temperature, 2.0)?;
    within("top_p", body.top_p, 1.0)?;
    let max_tokens = body.max_completion_tokens.or(body.max_tokens);
    if max_tokens == Some(0) {
        return Err(ApiError::invalid("`max_tokens` must be at least 1"));
    }
    let tools = tools(body.tools.unwrap_or_default())?;
    let tool_choice = tool_choice(body.tool_choice.as_ref(), &tools)?;
    Ok(ChatRequest {
        model: body.model,
        messages: messages(body.messages)?,
        tools,
        temperature: body.temperature,
        max_tokens,
        tool_choice,
        stop: stop(body.stop)?,
        top_p: body.top_p,
        seed: body.seed,
        strict: body
            .response_format
            .as_ref()
            .is_some_and(|format| format["json_schema"]["strict"] == true),
        format: format(body.response_format.as_ref())?,
        fields: body.fields,
    })
}

fn within(name: &str, value: Option<f64>, most: f64) -> ApiResult<()> {
    match value {
        Some(value) if !(0.0..=most).contains(&value) => Err(ApiError::invalid(format!(
            "`{name}` must be between 0 and {most}"
        ))),
        _ => Ok(()),
    }
}

fn stop(stop: Option<Stop>) -> ApiResult<Vec<String>> {
    let stop = match stop {
        None => Vec::new(),
        Some(Stop::One(text)) => vec![text],
        Some(Stop::Many(texts)) => texts,
    };
    if stop.len() > 4 || stop.iter().any(String::is_empty) {
        return Err(ApiError::invalid(
            "`stop` must be at most 4 non-empty strings",
        ));
    }
    Ok(stop)
}

fn format(format: Option<&Value>) -> ApiResult<Option<Value>> {
    let Some(format) = format.filter(|format| !format.is_null()) else {
        return Ok(None);
    };
    match format["type"].as_str() {
        Some("text") => Ok(None),
        Some("json_object") => Ok(Some(json!({ "type": "object" }))),
        Some("json_schema") if format["json_schema"]["schema"].is_object() => {
            Ok(Some(format["json_schema"]["schema"].clone()))
        }
        _ => Err(ApiError::invalid(
            "`response_format` must be of type text, json_object, or json_schema with a `json_schema.schema`",
        )),
    }
}

fn tools(tools: Vec<WireTool>) -> ApiResult<Vec<ToolSpec>> {
    if tools.len() > TOOLS {
        return Err(ApiError::invalid(format!(
            "`tools` must have at most {TOOLS} entries"
        )));
    }
    let tool = |(n, tool): (usize, WireTool)| {
        let wrong = |what: &str| ApiError::invalid(format!("`tools[{n}]` {what}"));
        let function = tool.function.filter(|_| tool.kind == "function");
        let function = function.ok_or_else(|| wrong("must be of type function"))?;
        if !is_name(&function.name) {
            return Err(wrong(
                "needs a name of at most 64 letters, digits, `_` and `-`",
            ));
        }
        let parameters = function.parameters.filter(|schema| !schema.is_null());
        let parameters =
            parameters.unwrap_or_else(|| json!({ "type": "object", "properties": {} }));
        if !parameters.is_object() {
            return Err(wrong("has `parameters` that are not a JSON Schema object"));
        }
        Ok(ToolSpec {
            name: function.name,
            description: function.description.unwrap_or_default(),
            parameters,
        })
    };
    tools.into_iter().enumerate().map(tool).collect()
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    (1..=64).contains(&name.len()) && name.chars().all(fits)
}

fn tool_choice(choice: Option<&Value>, tools: &[ToolSpec]) -> ApiResult<ToolChoice> {
    let Some(choice) = choice.filter(|choice| !choice.is_null()) else {
        return Ok(ToolChoice::Auto);
    };
    match (choice.as_str(), choice["function"]["name"].as_str()) {
        (Some("auto"), _) => Ok(ToolChoice::Auto),
        (Some("none"), _) => Ok(ToolChoice::Never),
        (Some("required"), _) if !tools.is_empty() => Ok(ToolChoice::Required),
        (None, Some(name)) if tools.iter().any(|tool| tool.name == name) => {
            Ok(ToolChoice::Named(name.to_owned()))
        }
        _ => Err(ApiError::invalid(
            "`tool_choice` must be auto, none, required, or name one of the `tools`",
        )),
    }
}

fn messages(messages: Vec<WireMessage>) -> ApiResult<Vec<Message>> {
    let mut known: Vec<Message> = Vec::with_capacity(messages.len());
    for (n, message) in messages.into_iter().enumerate() {
        let wrong = |what: &str| ApiError::invalid(format!("`messages[{n}]` {what}"));
        let text = text(message.content).map_err(|what| wrong(&what))?;
        let needed = |text: Option<String>| text.ok_or_else(|| wrong("needs `content`"));
        let next = match message.role.as_str() {
            "system" | "developer" => Message::System(needed(text)?),
            "user" => Message::User(needed(text)?),
            "assistant" => {
                let calls = message.tool_calls.unwrap_or_default().into_iter();
                let calls: Result<Vec<_>, String> = calls.map(call).collect();
                let calls = calls.map_err(|what| wrong(&what))?;
                if text.is_none() && calls.is_empty() {
                    return Err(wrong("needs `content` or `tool_calls`"));
                }
                Message::Assistant {
                    text: text.unwrap_or_default(),
                    calls,
                    fields: message.fields,
                }
            }
            "tool" => {
                let id = message.tool_call_id;
                let id = id.ok_or_else(|| wrong("needs `tool_call_id`"))?;
                let name = called(&known, &id).ok_or_else(|| {
                    wrong("has a `tool_call_id` that no earlier message contains")
                })?;
                Message::Tool {
                    name,
                    call: id,
                    content: needed(text)?,
                    failed: false,
                }
            }
            _ => {
                return Err(wrong(
                    "has a `role` other than system, developer, user, assistant and tool",
                ));
            }
        };
        known.push(next);
    }
    Ok(known)
}

/// The tool of an earlier call.
fn called(messages: &[Message], id: &str) -> Option<String> {
    let calls = messages.iter().rev().filter_map(|message| match message {
        Message::Assistant { calls, .. } => Some(calls),
        _ => None,
    });
    let mut calls = calls.flatten();
    calls
        .find(|call| call.id == id)
        .map(|call| call.name.clone())
}

fn call(call: WireCall) -> Result<ToolCall, String> {
    let text = call.function.arguments;
    let text = if text.trim().is_empty() { "{}" } else { &text };
    match serde_json::from_str(text) {
        Ok(arguments @ Value::Object(_)) => Ok(ToolCall {
            id: call.id,
            name: call.function.name,
            arguments,
        }),
        _ => Err("has a tool call whose `arguments` are not a JSON object".into()),
    }
}

fn text(content: Option<Content>) -> Result<Option<String>, String> {
    let parts = match content {
        None => return Ok(None),
        Some(Content::Text(text)) => return Ok(Some(text)),
        Some(Content::Parts(parts)) => parts,
    };
    let mut whole = String::new();
    for part in parts {
        match part.text.filter(|_| part.kind == "text") {
            Some(text) => whole += &text,
            None => {
                let kind: String = part.kind.chars().take(40).collect();
                return Err(format!(
                    "has a part of type {kind:?}; only text is supported"
                ));
            }
        }
    }
    Ok(Some(whole))
}
