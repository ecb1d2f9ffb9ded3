//! From our pieces to OpenAI's chunks.

use bytes::Bytes;
use gangway_models::{ModelError, Piece, ToolCall};
use serde::Serialize;

use super::{
    error,
    wire::{
        Answer, CalledFunction, Choice, Chunk, ChunkChoice, Completion, Delta, ErrorBody, Extra,
        Usage, WireCall, function,
    },
};

/// The end of every stream that ends well.
const DONE: &[u8] = b"data: [DONE]\n\n";

/// An answer on its way to a client.
pub(super) struct Encoder {
    id: String,
    created: i64,
    model: String,
    with_usage: bool,
    started: bool,
    calls: u32,
    truncated: bool,
    usage: Usage,
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
        }
    }

    /// The bytes for one piece; empty when there is nothing to say yet.
    pub(super) fn piece(&mut self, piece: Result<Piece, ModelError>) -> Bytes {
        match piece {
            Ok(Piece::Text(text)) => self.delta(Delta {
                content: Some(&text),
                ..Delta::default()
            }),
            Ok(Piece::ToolCall(call)) => {
                let call = wire_call(call, Some(self.calls));
                self.calls += 1;
                self.delta(Delta {
                    tool_calls: &[call],
                    ..Delta::default()
                })
            }
            Ok(Piece::Notice(notice)) => {
                let choice = ChunkChoice {
                    index: 0,
                    delta: self.opening(Delta::default()),
                    finish_reason: None,
                };
                let notices = vec![notice];
                // With a choice, since clients look at the first one without asking whether there is any.
                self.chunk(&[choice], None, Some(Extra { notices }))
            }
            Ok(Piece::Truncated) => {
                self.truncated = true;
                Bytes::new()
            }
            Ok(Piece::Usage { input, output }) => {
                self.usage = usage(input, output);
                Bytes::new()
            }
            Err(failure) => event(&ErrorBody::from(&error::from_model(failure))),
        }
    }

    /// The bytes after the last piece.
    pub(super) fn end(&mut self) -> Bytes {
        let finish_reason = Some(finish_reason(self.calls > 0, self.truncated));
        let choice = ChunkChoice {
            index: 0,
            delta: self.opening(Delta::default()),
            finish_reason,
        };
        let mut bytes = self.chunk(&[choice], None, None).to_vec();
        if self.with_usage {
            bytes.extend_from_slice(&self.chunk(&[], Some(self.usage), None));
        }
        bytes.extend_from_slice(DONE);
        bytes.into()
    }

    fn delta(&mut self, delta: Delta<'_>) -> Bytes {
        let choice = ChunkChoice {
            index: 0,
            delta: self.opening(delta),
            finish_reason: None,
        };
        self.chunk(&[choice], None, None)
    }

    /// The first delta says who speaks.
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
    ) -> Bytes {
        event(&Chunk {
            id: &self.id,
            object: "chat.completion.chunk",
            created: self.created,
            model: &self.model,
            choices,
            usage,
            gangway,
        })
    }

    /// The whole answer at once.
    pub(super) fn whole(self, pieces: Vec<Piece>) -> Completion {
        let (mut text, mut calls, mut notices) = (String::new(), Vec::new(), Vec::new());
        let (mut used, mut truncated) = (Usage::default(), false);
        for piece in pieces {
            match piece {
                Piece::Text(more) => text += &more,
                Piece::ToolCall(call) => calls.push(wire_call(call, None)),
                Piece::Notice(notice) => notices.push(notice),
                Piece::Truncated => truncated = true,
                Piece::Usage { input, output } => used = usage(input, output),
            }
        }
        let finish_reason = finish_reason(!calls.is_empty(), truncated);
        let message = Answer {
            role: "assistant",
            content: (!text.is_empty() || calls.is_empty()).then_some(text),
            refusal: None,
            tool_calls: calls,
        };
        let choice = Choice {
            index: 0,
            message,
            finish_reason,
            logprobs: None,
        };
        Completion {
            id: self.id,
            object: "chat.completion",
            created: self.created,
            model: self.model,
            choices: vec![choice],
            usage: used,
            gangway: (!notices.is_empty()).then_some(Extra { notices }),
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

/// One event. JSON holds no line breaks, so one line is enough.
fn event(value: &impl Serialize) -> Bytes {
    let mut bytes = b"data: ".to_vec();
    // Our own types always turn into JSON.
    let _ = serde_json::to_writer(&mut bytes, value);
    bytes.extend_from_slice(b"\n\n");
    bytes.into()
}
