//! Chat requests and responses, the same for every provider.

use futures_util::{future::BoxFuture, stream::BoxStream};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ModelError;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Message {
    System(String),
    /// From the user, or an applet on their behalf.
    User(String),
    Assistant {
        /// May be empty when it only called tools.
        text: String,
        calls: Vec<ToolCall>,
        /// Provider-specific fields, such as `reasoning_content`.
        fields: Map<String, Value>,
    },
    Tool {
        /// The id of the call.
        call: String,
        /// As the model knows it.
        name: String,
        content: String,
        failed: bool,
    },
    /// Images in the tool results before it. Omitted for models without vision.
    Images(Vec<Image>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Such as `image/png`.
    pub mime_type: String,
    /// Base64.
    pub data: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Letters, digits, `_` and `-`; at most 64.
    pub name: String,
    pub description: String,
    /// A JSON Schema of type object.
    pub parameters: Value,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Refers to the call in its result.
    pub id: String,
    pub name: String,
    /// Always an object.
    pub arguments: Value,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// `provider/model`; the provider's default when absent.
    pub model: Option<String>,
    /// Oldest first.
    pub messages: Vec<Message>,
    pub tools: Vec<ToolSpec>,
    /// 0.0 to 2.0; the provider's default when absent.
    pub temperature: Option<f64>,
    /// Output tokens at most; the provider's default when absent.
    pub max_tokens: Option<u32>,
    pub tool_choice: ToolChoice,
    /// Stop sequences; not included in the output.
    pub stop: Vec<String>,
    /// Nucleus sampling, 0.0 to 1.0.
    pub top_p: Option<f64>,
    /// The same seed and request give the same output, if the provider supports it.
    pub seed: Option<i64>,
    /// A JSON Schema for the output; `{"type": "object"}` alone means any JSON object.
    pub format: Option<Value>,
    /// Whether the schema is enforced strictly, if the provider supports it.
    pub strict: bool,
    /// Other fields of OpenAI's API (`logprobs`, `reasoning_effort`), for providers that support it.
    #[serde(default)]
    pub fields: Map<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolChoice {
    #[default]
    Auto,
    Never,
    /// At least one tool.
    Required,
    Named(String),
}

/// A part of a streamed response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ChatChunk {
    Text(String),
    /// A complete tool call.
    ToolCall(ToolCall),
    /// A notice for the user, such as turns that were left out. Not part of the output.
    Notice(String),
    /// Unknown fields of an OpenAI-compatible provider.
    Passed(Passthrough),
    /// The output was cut at `max_tokens`.
    Truncated,
    /// Always last.
    Usage {
        input: u64,
        output: u64,
    },
}

/// Fields that are passed through unchanged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Passthrough {
    /// Of the message (`reasoning_content`), streamed.
    pub message: Map<String, Value>,
    /// Of the choice (`logprobs`), streamed.
    pub choice: Map<String, Value>,
    /// Of the usage (`prompt_tokens_details`).
    pub usage: Map<String, Value>,
    /// Of the response (`system_fingerprint`).
    pub answer: Map<String, Value>,
}

impl Passthrough {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        [&self.message, &self.choice, &self.usage, &self.answer]
            .iter()
            .all(|fields| fields.is_empty())
    }
}

/// A streamed response; dropping it cancels the request.
pub type ChatStream<'a> = BoxStream<'a, Result<ChatChunk, ModelError>>;

pub trait Provider: Send + Sync {
    fn supports_tools(&self) -> bool {
        true
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, ModelError>>;

    /// The context window of a model, or of the default one, in tokens, if known.
    fn window<'a>(&'a self, _model: Option<&'a str>) -> BoxFuture<'a, Option<u64>> {
        Box::pin(std::future::ready(None))
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatStream<'static>, ModelError>>;
}
