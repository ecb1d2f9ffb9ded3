//! What travels about models and their providers.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

/// The providers there are.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProviderList {
    /// Those that are set up and those that can be found.
    pub providers: Vec<ProviderInfo>,
    /// What answers when nobody names a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub default: Option<DefaultModel>,
    /// What the person chose: `provider` or `provider/model`. Absent means the nearest that runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub choice: Option<String>,
}

/// What answers when nobody names a model.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct DefaultModel {
    /// The provider.
    pub provider: String,
    /// The model there, where one is settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<String>,
}

/// A provider.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProviderInfo {
    /// Its name.
    pub id: String,
    /// `ollama`, `llamafile`, `openai`, `anthropic` or `embedded`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its name for people.
    pub name: String,
    /// Whether it could take a chat now.
    pub available: bool,
    /// Whether it answers when nobody names a provider.
    pub is_default: bool,
    /// Whether the name of its type means this one.
    pub is_type_default: bool,
    /// Whether its models can call tools.
    pub supports_tools: bool,
    /// Never: it is not part of a browser.
    pub is_native: bool,
    /// `bridge`.
    pub runtime: String,
    /// Whether weights must be fetched before it can work.
    pub download_required: bool,
    /// How much of them is there, 0 to 1, while they are fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub download_progress: Option<f64>,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub base_url: Option<String>,
    /// How many models it is known to have.
    pub models: usize,
    /// The name under which its key is kept, where it takes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub key_name: Option<String>,
    /// Where its key comes from: `environment` or `secrets`. Absent means there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub key_source: Option<String>,
    /// Why it is not available, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<String>,
}

/// The models there are.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelList {
    /// The models of all providers that answer.
    pub models: Vec<ModelInfo>,
    /// What answers when nobody names a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub default: Option<DefaultModel>,
}

/// A model.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    /// `provider/model`: what to ask for.
    pub id: String,
    /// The provider.
    pub provider: String,
    /// Its name there.
    pub name: String,
    /// Whether it answers when nobody names a model, as far as that is settled.
    pub is_default: bool,
}

/// What to use when nobody names a model.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct SetDefault {
    /// `provider`, `provider/model`, or null for the nearest that runs.
    pub model: Option<String>,
}

/// A provider's key.
#[derive(Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct SetKey {
    /// The key. It is kept with the secrets and never shown again.
    pub key: String,
}

/// What the models were doing in the last minute.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelActivity {
    /// Chats that are running, with any provider.
    pub active: usize,
    /// Tokens written in each of the last sixty seconds, oldest first.
    pub tokens: Vec<u32>,
    /// Memory of this process, where the system tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub memory_bytes: Option<u64>,
    /// Models on this machine.
    pub embedded: EmbeddedActivity,
}

/// Whether the engine process can run models on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum EngineState {
    /// It starts when it is asked for an answer.
    Ready,
    /// Its program is being built.
    Building,
    /// Its program is not installed.
    Missing,
    /// This processor cannot run it.
    Unsupported,
}

/// What the engine does, the process that runs models on this machine.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddedActivity {
    /// Whether it can run.
    pub engine: EngineState,
    /// The model that is loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub loaded: Option<String>,
    /// What it takes: weights and conversations.
    #[ts(type = "number")]
    pub memory_bytes: u64,
    /// Answers being written.
    pub active: usize,
    /// Requests that wait for their turn.
    pub waiting: usize,
    /// Tokens of conversations that did not have to be read again, since the start.
    #[ts(type = "number")]
    pub reused_tokens: u64,
}

/// Weights on this machine, and those that can be fetched.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct WeightsList {
    /// What is here.
    pub weights: Vec<WeightsInfo>,
    /// What can be fetched by name.
    pub catalog: Vec<CatalogInfo>,
    /// What is being fetched, or was not long ago.
    pub pulls: Vec<PullInfo>,
}

/// Weights on this machine.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct WeightsInfo {
    /// The model's name with the embedded provider.
    pub name: String,
    /// How large the file is.
    #[ts(type = "number")]
    pub bytes: u64,
    /// Where it came from, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub source: Option<String>,
}

/// Weights that can be fetched.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CatalogInfo {
    /// The model's name.
    pub name: String,
    /// What it is, for people.
    pub title: String,
    /// How much is fetched.
    #[ts(type = "number")]
    pub bytes: u64,
    /// Its licence.
    pub license: String,
    /// Whether it is here already.
    pub installed: bool,
}

/// Weights on their way.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct PullInfo {
    /// The model's name.
    pub name: String,
    /// What is going on.
    pub step: PullStep,
    /// Bytes that are here.
    #[ts(type = "number")]
    pub fetched: u64,
    /// Bytes in all; 0 while that is not known.
    #[ts(type = "number")]
    pub total: u64,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error: Option<String>,
}

/// What is going on with weights on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum PullStep {
    /// Bytes come in.
    Fetching,
    /// They are compared with what they should be.
    Checking,
    /// The weights are taken out of their package.
    Unpacking,
    /// They are here.
    Done,
    /// They are not, for the reason in `error`.
    Failed,
}

/// Which weights to fetch: by `name` or by `url`.
#[derive(Debug, Default, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields, default)]
pub struct PullWeights {
    /// A name from the catalog, or that of a pull from a URL, to try it again.
    #[ts(optional)]
    pub name: Option<String>,
    /// The address of a GGUF file: https, or http with `sha256` or on the server's own machine.
    #[ts(optional)]
    pub url: Option<String>,
    /// The hash that the file at `url` must have.
    #[ts(optional)]
    pub sha256: Option<String>,
}
