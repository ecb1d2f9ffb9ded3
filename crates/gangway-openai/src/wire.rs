//! The supported part of OpenAI's chat completions API.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A chat completion request. Other fields, such as `logprobs` or `reasoning_effort`, are passed to providers with the
/// same API.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OpenAiRequest)]
pub struct ChatCompletion {
    /// `provider/model`, a provider, the name of a model, or `default`.
    pub model: Option<String>,
    /// The messages, oldest first.
    pub messages: Vec<WireMessage>,
    /// Whether the answer is streamed.
    #[serde(default)]
    pub stream: Option<bool>,
    /// Options of the stream.
    pub stream_options: Option<StreamOptions>,
    /// 0 to 2.
    pub temperature: Option<f64>,
    /// 0 to 1.
    pub top_p: Option<f64>,
    /// Maximum number of output tokens.
    pub max_tokens: Option<u32>,
    /// The newer name of `max_tokens`.
    pub max_completion_tokens: Option<u32>,
    /// The same seed and request give the same answer, if the provider supports it.
    pub seed: Option<i64>,
    /// One to four strings that end the answer.
    pub stop: Option<Stop>,
    /// Must be 1.
    pub n: Option<u32>,
    /// Tools that the model may call.
    #[serde(default)]
    pub tools: Option<Vec<WireTool>>,
    /// `auto`, `none`, `required`, or one function.
    #[schema(value_type = Option<Object>)]
    pub tool_choice: Option<Value>,
    /// False means at most one call.
    pub parallel_tool_calls: Option<bool>,
    /// `text`, `json_object`, or `json_schema` with a schema.
    #[schema(value_type = Option<Object>)]
    pub response_format: Option<Value>,
    /// Other fields.
    #[serde(flatten)]
    #[schema(ignore)]
    pub fields: Map<String, Value>,
}

/// Options of a stream.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OpenAiStreamOptions)]
pub struct StreamOptions {
    /// Whether the last chunk reports usage.
    #[serde(default)]
    pub include_usage: bool,
}

/// One string or several.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OpenAiStop)]
#[serde(untagged)]
pub enum Stop {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

/// A message.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OpenAiMessage)]
pub struct WireMessage {
    /// `system`, `developer`, `user`, `assistant` or `tool`.
    pub role: String,
    /// Text, or parts of type `text`.
    pub content: Option<Content>,
    /// Tool calls of an assistant.
    #[serde(default)]
    pub tool_calls: Option<Vec<WireCall>>,
    /// The call of a tool result.
    pub tool_call_id: Option<String>,
    /// Other fields, such as `reasoning_content`.
    #[serde(flatten)]
    #[schema(ignore)]
    pub fields: Map<String, Value>,
}

/// The content of a message.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OpenAiContent)]
#[serde(untagged)]
pub enum Content {
    /// A string.
    Text(String),
    /// A list of parts.
    Parts(Vec<Part>),
}

/// A part of a message.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OpenAiPart)]
pub struct Part {
    /// Only `text` is supported.
    #[serde(rename = "type")]
    pub kind: String,
    /// The text.
    pub text: Option<String>,
}

/// A tool that the model may call.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OpenAiTool)]
pub struct WireTool {
    /// Only `function`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The function.
    pub function: Option<WireFunction>,
}

/// A function.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OpenAiFunction)]
pub struct WireFunction {
    /// At most 64 letters, digits, `_` and `-`.
    pub name: String,
    /// Its description.
    #[serde(default)]
    pub description: Option<String>,
    /// A JSON Schema of type object.
    #[schema(value_type = Option<Object>)]
    pub parameters: Option<Value>,
}

/// A tool call of the model.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = OpenAiCall)]
pub struct WireCall {
    /// Its index, in streams only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Its id.
    pub id: String,
    /// `function`.
    #[serde(rename = "type", default = "function")]
    pub kind: String,
    /// The function and its arguments.
    pub function: CalledFunction,
}

/// The type of all calls.
pub(super) fn function() -> String {
    "function".into()
}

/// The function and its arguments.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = OpenAiCalled)]
pub struct CalledFunction {
    /// The function.
    pub name: String,
    /// A JSON object as a string.
    #[serde(default)]
    pub arguments: String,
}

/// A complete answer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenAiCompletion)]
pub struct Completion {
    /// Its id.
    pub id: String,
    /// `chat.completion`.
    pub object: &'static str,
    /// Seconds since 1970.
    pub created: i64,
    /// The requested model.
    pub model: String,
    /// The only choice.
    pub choices: Vec<Choice>,
    /// Token usage.
    pub usage: Usage,
    /// Gangway's own fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gangway: Option<Extra>,
    /// Fields of the provider, such as `system_fingerprint`.
    #[serde(flatten)]
    #[schema(ignore)]
    pub fields: Map<String, Value>,
}

/// A choice.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenAiChoice)]
pub struct Choice {
    /// Always 0.
    pub index: u32,
    /// The message.
    pub message: Answer,
    /// `stop`, `length` or `tool_calls`.
    pub finish_reason: &'static str,
    /// Log probabilities of tokens, if requested and supported.
    #[schema(value_type = Option<Object>)]
    pub logprobs: Option<Value>,
    /// Fields of the provider.
    #[serde(flatten)]
    #[schema(ignore)]
    pub fields: Map<String, Value>,
}

/// The message of the model.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenAiAnswer)]
pub struct Answer {
    /// `assistant`.
    pub role: &'static str,
    /// Its text; null if it only called tools.
    pub content: Option<String>,
    /// Not supported.
    pub refusal: Option<String>,
    /// Tool calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<WireCall>,
    /// Fields of the provider, such as `reasoning_content`.
    #[serde(flatten)]
    #[schema(ignore)]
    pub fields: Map<String, Value>,
}

/// Token usage.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[schema(as = OpenAiUsage)]
pub struct Usage {
    /// Input tokens.
    pub prompt_tokens: u64,
    /// Output tokens.
    pub completion_tokens: u64,
    /// The sum.
    pub total_tokens: u64,
    /// Fields of the provider, such as `prompt_tokens_details`.
    #[serde(flatten)]
    #[schema(ignore)]
    pub fields: Map<String, Value>,
}

/// Gangway's own fields.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenAiExtra)]
pub struct Extra {
    /// A notice for the user about this answer.
    pub notices: Vec<String>,
}

/// A chunk of a streamed answer.
#[derive(Debug, Serialize)]
pub struct Chunk<'a> {
    pub id: &'a str,
    pub object: &'static str,
    pub created: i64,
    pub model: &'a str,
    pub choices: &'a [ChunkChoice<'a>],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gangway: Option<Extra>,
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// The delta of a chunk.
#[derive(Debug, Serialize)]
pub struct ChunkChoice<'a> {
    pub index: u32,
    pub delta: Delta<'a>,
    pub finish_reason: Option<&'static str>,
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// The delta.
#[derive(Debug, Default, Serialize)]
pub struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub tool_calls: &'a [WireCall],
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// An error in OpenAI's form.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenAiError)]
pub struct ErrorBody {
    /// The error.
    pub error: ErrorFields,
}

/// The error.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenAiErrorFields)]
pub struct ErrorFields {
    /// The message.
    pub message: String,
    /// The kind of error.
    #[serde(rename = "type")]
    pub kind: String,
    /// The invalid field, if any.
    pub param: Option<String>,
    /// A short machine-readable reason.
    pub code: Option<String>,
    /// The provider's message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
}

/// The list of models.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenAiModels)]
pub struct ModelList {
    /// `list`.
    pub object: &'static str,
    /// The models.
    pub data: Vec<ModelEntry>,
}

/// A model.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenAiModel)]
pub struct ModelEntry {
    /// `provider/model`.
    pub id: String,
    /// `model`.
    pub object: &'static str,
    /// Unknown, so 0.
    pub created: i64,
    /// The provider.
    pub owned_by: String,
}
