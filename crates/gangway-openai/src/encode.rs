//! Converts chunks of a model's answer to OpenAI's wire format.

use bytes::Bytes;
use gangway_models::{ChatChunk, ModelError, Passthrough, ToolCall};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    error,
    wire::{
        Answer, CalledFunction, Choice, Chunk, ChunkChoice, Completion, Delta, ErrorBody, Extra,
        Usage, WireCall, function,
    },
};

/// The end of every successful stream.
const DONE: &[u8] = b"data: [DONE]\n\n";

/// An answer being streamed.
pub(super) struct Encoder {
    id: String,
    created: i64,
    model: String,
    with_usage: bool,
    started: bool,
    calls: u32,
    truncated: bool,
    usage: Usage,
    passed: Passthrough,
}

impl Encoder {
    pub(super) fn new(model: Option<String>, with_usage: bool) -> Self {
        Self {
            id: format!("chatcmpl-{:032x}", rand::random::<u128>()),
            created: jiff::Timestamp::now().as_second(),
            model: model.unwrap_or_else(|| "default".into()),
            with_usage,
            started: false,
            calls: 0,
            truncated: false,
            usage: Usage::default(),
            passed: Passthrough::default(),
        }
    }

    /// The bytes to send for a chunk; empty if there is nothing to send yet.
    pub(super) fn encode(&mut self, chunk: Result<ChatChunk, ModelError>) -> Bytes {
        match chunk {
            Ok(ChatChunk::Text(text)) => self.delta(Delta {
                content: Some(&text),
                ..Delta::default()
            }),
            Ok(ChatChunk::ToolCall(call)) => {
                let call = wire_call(call, Some(self.calls));
                self.calls += 1;
                self.delta(Delta {
                    tool_calls: &[call],
                    ..Delta::default()
                })
            }
            Ok(ChatChunk::Notice(notice)) => {
                let choice = self.choice(Delta::default());
                let notices = vec![notice];
                // With a choice, since clients read the first one without checking.
                self.chunk(&[choice], None, Some(Extra { notices }), Map::new())
            }
            Ok(ChatChunk::Passed(mut passed)) => {
                self.passed.usage.append(&mut passed.usage);
                if passed.is_empty() {
                    return Bytes::new();
                }
                let delta = Delta {
                    fields: passed.message,
                    ..Delta::default()
                };
                let choice = ChunkChoice {
                    fields: passed.choice,
                    ..self.choice(delta)
                };
                self.chunk(&[choice], None, None, passed.answer)
            }
            Ok(ChatChunk::Truncated) => {
                self.truncated = true;
                Bytes::new()
            }
            Ok(ChatChunk::Usage { input, output }) => {
                self.usage = usage(input, output);
                Bytes::new()
            }
            Err(failure) => event(&ErrorBody::from(&error::from_model(failure))),
        }
    }

    /// The bytes after the last chunk.
    pub(super) fn end(&mut self) -> Bytes {
        let finish_reason = Some(finish_reason(self.calls > 0, self.truncated));
        let choice = ChunkChoice {
            finish_reason,
            ..self.choice(Delta::default())
        };
        let mut bytes = self.chunk(&[choice], None, None, Map::new()).to_vec();
        if self.with_usage {
            let mut usage = std::mem::take(&mut self.usage);
            usage.fields = std::mem::take(&mut self.passed.usage);
            bytes.extend_from_slice(&self.chunk(&[], Some(usage), None, Map::new()));
        }
        bytes.extend_from_slice(DONE);
        bytes.into()
    }

    fn delta(&mut self, delta: Delta<'_>) -> Bytes {
        let choice = self.choice(delta);
        self.chunk(&[choice], None, None, Map::new())
    }

    fn choice<'a>(&mut self, delta: Delta<'a>) -> ChunkChoice<'a> {
        ChunkChoice {
            index: 0,
            delta: self.opening(delta),
            finish_reason: None,
            fields: Map::new(),
        }
    }

    /// The first delta names the role.
    fn opening<'a>(&mut self, delta: Delta<'a>) -> Delta<'a> {
        let role = (!self.started).then_some("assistant");
        self.started = true;
        Delta { role, ..delta }
    }

    fn chunk(
        &self,
        choices: &[ChunkChoice<'_>],
        usage: Option<Usage>,
        gangway: Option<Extra>,
        fields: Map<String, Value>,
    ) -> Bytes {
        event(&Chunk {
            id: &self.id,
            object: "chat.completion.chunk",
            created: self.created,
            model: &self.model,
            choices,
            usage,
            gangway,
            fields,
        })
    }

    /// The complete answer at once.
    pub(super) fn whole(self, chunks: Vec<ChatChunk>) -> Completion {
        let (mut text, mut calls, mut notices) = (String::new(), Vec::new(), Vec::new());
        let (mut used, mut truncated) = (Usage::default(), false);
        let mut extra = Passthrough::default();
        for chunk in chunks {
            match chunk {
                ChatChunk::Text(more) => text += &more,
                ChatChunk::ToolCall(call) => calls.push(wire_call(call, None)),
                ChatChunk::Notice(notice) => notices.push(notice),
                ChatChunk::Passed(passed) => {
                    join(&mut extra.message, passed.message);
                    join(&mut extra.choice, passed.choice);
                    extra.usage.extend(passed.usage);
                    extra.answer.extend(passed.answer);
                }
                ChatChunk::Truncated => truncated = true,
                ChatChunk::Usage { input, output } => used = usage(input, output),
            }
        }
        let finish_reason = finish_reason(!calls.is_empty(), truncated);
        let message = Answer {
            role: "assistant",
            content: (!text.is_empty() || calls.is_empty()).then_some(text),
            refusal: None,
            tool_calls: calls,
            fields: extra.message,
        };
        used.fields = extra.usage;
        let choice = Choice {
            index: 0,
            message,
            finish_reason,
            logprobs: extra.choice.remove("logprobs"),
            fields: extra.choice,
        };
        Completion {
            id: self.id,
            object: "chat.completion",
            created: self.created,
            model: self.model,
            choices: vec![choice],
            usage: used,
            gangway: (!notices.is_empty()).then_some(Extra { notices }),
            fields: extra.answer,
        }
    }
}

/// Joins the parts of fields: strings and lists are concatenated, also inside of objects.
fn join(whole: &mut Map<String, Value>, more: Map<String, Value>) {
    for (name, value) in more {
        match (whole.get_mut(&name), value) {
            (Some(Value::String(text)), Value::String(more)) => text.push_str(&more),
            (Some(Value::Array(items)), Value::Array(more)) => items.extend(more),
            (Some(Value::Object(fields)), Value::Object(more)) => join(fields, more),
            (_, value) => {
                whole.insert(name, value);
            }
        }
    }
}

fn finish_reason(called: bool, truncated: bool) -> &'static str {
    match (called, truncated) {
        (true, _) => "tool_calls",
        (false, true) => "length",
        (false, false) => "stop",
    }
}

fn usage(input: u64, output: u64) -> Usage {
    Usage {
        prompt_tokens: input,
        completion_tokens: output,
        total_tokens: input.saturating_add(output),
        fields: Map::new(),
    }
}

fn wire_call(call: ToolCall, index: Option<u32>) -> WireCall {
    WireCall {
        index,
        id: call.id,
        kind: function(),
        function: CalledFunction {
            name: call.name,
            arguments: call.arguments.to_string(),
        },
    }
}

/// One event. JSON contains no line breaks, so one line suffices.
fn event(value: &impl Serialize) -> Bytes {
    let mut bytes = b"data: ".to_vec();
    // Serializing our own types cannot fail.
    let _ = serde_json::to_writer(&mut bytes, value);
    bytes.extend_from_slice(b"\n\n");
    bytes.into()
}
