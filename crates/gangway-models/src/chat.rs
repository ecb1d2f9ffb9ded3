//! What a model is asked and what it answers, whoever provides it.

use futures_util::{future::BoxFuture, stream::BoxStream};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ModelError;

/// One message that a model reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// Instructions that stand above the conversation.
    System(String),
    /// What the person said, or an applet in their name.
    User(String),
    /// What the model said, and the tools it called.
    Assistant {
        /// Its words; may be empty when it only called tools.
        text: String,
        /// The calls, in order.
        calls: Vec<ToolCall>,
        /// What else it said, in fields that only its provider knows (`reasoning_content`).
        fields: Map<String, Value>,
    },
    /// What a tool answered.
    Tool {
        /// The id of the call.
        call: String,
        /// The tool's name, as the model knows it.
        name: String,
        /// The answer as text.
        content: String,
        /// Whether the tool failed.
        failed: bool,
    },
    /// Pictures that the tools before it answered with. Models that do not see are not shown them.
    Images(Vec<Image>),
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Such as `image/png`.
    pub mime_type: String,
    /// Its bytes in base64.
    pub data: String,
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Letters, digits, `_` and `-`; 64 at the most.
    pub name: String,
    /// What it is good for.
    pub description: String,
    /// A JSON Schema of type object.
    pub parameters: Value,
}

/// A call that a model made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Names the call in the answer to it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it is called with: always an object.
    pub arguments: Value,
}

/// What a model is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// The model's name with its provider; absent means the provider's default.
    pub model: Option<String>,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// Tools it may call.
    pub tools: Vec<ToolSpec>,
    /// 0.0 to 2.0; the provider's default when absent.
    pub temperature: Option<f64>,
    /// Tokens to write at the most; the provider's default when absent.
    pub max_tokens: Option<u32>,
    /// Whether it must, may or must not call a tool.
    pub tool_choice: ToolChoice,
    /// Texts at which the answer ends; they are not part of it.
    pub stop: Vec<String>,
    /// How much of the likeliest words to choose from, 0.0 to 1.0.
    pub top_p: Option<f64>,
    /// The same seed and request give the same answer, where the provider can.
    pub seed: Option<i64>,
    /// A JSON Schema that the answer's text must fit; `{"type": "object"}` alone means any JSON object.
    pub format: Option<Value>,
    /// Whether every word of that schema counts, where the provider can tell.
    pub strict: bool,
    /// What else a client of OpenAI's API asked for, for providers that speak it (`logprobs`, `reasoning_effort`).
    #[serde(default)]
    pub fields: Map<String, Value>,
}

/// Whether a model must, may or must not call a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolChoice {
    /// It may.
    #[default]
    Auto,
    /// It must not.
    Never,
    /// It must call one or more.
    Required,
    /// It must call this one.
    Named(String),
}

/// A piece of what a model answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Piece {
    /// More text.
    Text(String),
    /// A whole call of a tool.
    ToolCall(ToolCall),
    /// Something the person should know about this answer, such as turns that were left out. It is not part of the answer.
    Notice(String),
    /// What a provider of OpenAI's API says in fields that are not known here.
    Passed(Passed),
    /// The answer was cut at its longest allowed length.
    Truncated,
    /// How many tokens were read and written; it comes last.
    Usage {
        /// Tokens read.
        input: u64,
        /// Tokens written.
        output: u64,
    },
}

/// Fields of an answer that are passed on as they came.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Passed {
    /// Of the message (`reasoning_content`), a piece at a time.
    pub message: Map<String, Value>,
    /// Of the choice (`logprobs`), a piece at a time.
    pub choice: Map<String, Value>,
    /// Of the tokens used (`prompt_tokens_details`).
    pub usage: Map<String, Value>,
    /// Of the whole answer (`system_fingerprint`).
    pub answer: Map<String, Value>,
}

impl Passed {
    /// Whether there is nothing to pass on.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        [&self.message, &self.choice, &self.usage, &self.answer]
            .iter()
            .all(|fields| fields.is_empty())
    }
}

/// A stream of an answer; dropping it ends the request at once.
pub type Pieces<'a> = BoxStream<'a, Result<Piece, ModelError>>;

/// Someone who has models.
pub trait Provider: Send + Sync {
    /// Whether its models can call tools.
    fn supports_tools(&self) -> bool {
        true
    }

    /// The models it has.
    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, ModelError>>;

    /// Tokens that this model's window holds, or that of the default, where that can be known.
    fn window<'a>(&'a self, _model: Option<&'a str>) -> BoxFuture<'a, Option<u64>> {
        Box::pin(std::future::ready(None))
    }

    /// Streams an answer.
    fn chat(&self, request: ChatRequest) -> BoxFuture<'_, Result<Pieces<'static>, ModelError>>;
}
