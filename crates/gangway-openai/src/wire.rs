//! What travels: the parts of OpenAI's chat completions that Gangway understands.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A chat that a model is asked to go on with. Fields that are not named here, such as `logprobs` or
/// `reasoning_effort`, go on to providers that speak the same API.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OpenAiRequest)]
pub struct ChatCompletion {
    /// `provider/model`, a provider, a model's own name, or `default`.
    pub model: Option<String>,
    /// The conversation, oldest first.
    pub messages: Vec<WireMessage>,
    /// Whether the answer comes in pieces.
    #[serde(default)]
    pub stream: Option<bool>,
    /// What a stream carries besides.
    pub stream_options: Option<StreamOptions>,
    /// 0 to 2.
    pub temperature: Option<f64>,
    /// 0 to 1.
    pub top_p: Option<f64>,
    /// Tokens to write at the most.
    pub max_tokens: Option<u32>,
    /// The same, by its newer name.
    pub max_completion_tokens: Option<u32>,
    /// The same seed and request give the same answer, where the provider can.
    pub seed: Option<i64>,
    /// One text or up to four at which the answer ends.
    pub stop: Option<Stop>,
    /// Only 1.
    pub n: Option<u32>,
    /// Tools that the model may call.
    #[serde(default)]
    pub tools: Option<Vec<WireTool>>,
    /// `auto`, `none`, `required`, or one function.
    #[schema(value_type = Option<Object>)]
    pub tool_choice: Option<Value>,
    /// False means one call at the most.
    pub parallel_tool_calls: Option<bool>,
    /// `text`, `json_object`, or `json_schema` with a schema.
    #[schema(value_type = Option<Object>)]
    pub response_format: Option<Value>,
    /// Everything else.
    #[serde(flatten)]
    #[schema(ignore)]
    pub fields: Map<String, Value>,
}

/// What a stream carries besides.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OpenAiStreamOptions)]
pub struct StreamOptions {
    /// Whether a last chunk tells the tokens used.
    #[serde(default)]
    pub include_usage: bool,
}

/// One text or several.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OpenAiStop)]
#[serde(untagged)]
pub enum Stop {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

/// A message of the conversation.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OpenAiMessage)]
pub struct WireMessage {
    /// `system`, `developer`, `user`, `assistant` or `tool`.
    pub role: String,
    /// Text, or parts of type `text`.
    pub content: Option<Content>,
    /// What an assistant called.
    #[serde(default)]
    pub tool_calls: Option<Vec<WireCall>>,
    /// The call that a tool answers.
    pub tool_call_id: Option<String>,
    /// What else an assistant said, such as `reasoning_content`.
    #[serde(flatten)]
    #[schema(ignore)]
    pub fields: Map<String, Value>,
}

/// What a message says.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OpenAiContent)]
#[serde(untagged)]
pub enum Content {
    /// As one text.
    Text(String),
    /// In parts.
    Parts(Vec<Part>),
}

/// A part of what a message says.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OpenAiPart)]
pub struct Part {
    /// Only `text` is understood.
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
    /// Letters, digits, `_` and `-`; 64 at the most.
    pub name: String,
    /// What it is good for.
    #[serde(default)]
    pub description: Option<String>,
    /// A JSON Schema of type object.
    #[schema(value_type = Option<Object>)]
    pub parameters: Option<Value>,
}

/// A call that the model made.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = OpenAiCall)]
pub struct WireCall {
    /// Its place among the calls, in streams only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Names it.
    pub id: String,
    /// `function`.
    #[serde(rename = "type", default = "function")]
    pub kind: String,
    /// What is called.
    pub function: CalledFunction,
}

/// The type of every call.
pub(super) fn function() -> String {
    "function".into()
}

/// What is called, with what.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = OpenAiCalled)]
pub struct CalledFunction {
    /// The function.
    pub name: String,
    /// A JSON object as text.
    #[serde(default)]
    pub arguments: String,
}

/// A whole answer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenAiCompletion)]
pub struct Completion {
    /// Names it.
    pub id: String,
    /// `chat.completion`.
    pub object: &'static str,
    /// Seconds since 1970.
    pub created: i64,
    /// The model as it was asked for.
    pub model: String,
    /// One choice.
    pub choices: Vec<Choice>,
    /// Tokens used.
    pub usage: Usage,
    /// What only Gangway says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gangway: Option<Extra>,
    /// What only this provider says, such as `system_fingerprint`.
    #[serde(flatten)]
    #[schema(ignore)]
    pub fields: Map<String, Value>,
}

/// An answer to choose.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenAiChoice)]
pub struct Choice {
    /// Always 0.
    pub index: u32,
    /// What the model said.
    pub message: Answer,
    /// `stop`, `length` or `tool_calls`.
    pub finish_reason: &'static str,
    /// How likely each token was, where that was asked for and the provider tells.
    #[schema(value_type = Option<Object>)]
    pub logprobs: Option<Value>,
    /// What only this provider says.
    #[serde(flatten)]
    #[schema(ignore)]
    pub fields: Map<String, Value>,
}

/// What the model said.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenAiAnswer)]
pub struct Answer {
    /// `assistant`.
    pub role: &'static str,
    /// Its text; null when it only called tools.
    pub content: Option<String>,
    /// Not given.
    pub refusal: Option<String>,
    /// What it called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<WireCall>,
    /// What only this provider says, such as `reasoning_content`.
    #[serde(flatten)]
    #[schema(ignore)]
    pub fields: Map<String, Value>,
}

/// Tokens used.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[schema(as = OpenAiUsage)]
pub struct Usage {
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Both.
    pub total_tokens: u64,
    /// What only this provider counts, such as `prompt_tokens_details`.
    #[serde(flatten)]
    #[schema(ignore)]
    pub fields: Map<String, Value>,
}

/// What only Gangway says.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenAiExtra)]
pub struct Extra {
    /// What the person should know of this answer.
    pub notices: Vec<String>,
}

/// A piece of an answer that streams.
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

/// What a chunk adds.
#[derive(Debug, Serialize)]
pub struct ChunkChoice<'a> {
    pub index: u32,
    pub delta: Delta<'a>,
    pub finish_reason: Option<&'static str>,
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// The addition.
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

/// An error in the form of this door.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenAiError)]
pub struct ErrorBody {
    /// What is wrong.
    pub error: ErrorFields,
}

/// What is wrong.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenAiErrorFields)]
pub struct ErrorFields {
    /// In words.
    pub message: String,
    /// The kind of error.
    #[serde(rename = "type")]
    pub kind: String,
    /// The field it is about, where there is one.
    pub param: Option<String>,
    /// A short machine-readable reason.
    pub code: Option<String>,
    /// The model provider's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
}

/// The models there are.
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
    /// Not known, so 0.
    pub created: i64,
    /// The provider.
    pub owned_by: String,
}
