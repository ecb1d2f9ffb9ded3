//! API types of models and providers.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

/// The providers.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProviderList {
    /// Configured and detectable providers.
    pub providers: Vec<ProviderInfo>,
    /// The default model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub default: Option<DefaultModel>,
    /// The user's choice: `provider` or `provider/model`. Absent means the first available provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub choice: Option<String>,
}

/// The default model.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct DefaultModel {
    /// The provider.
    pub provider: String,
    /// The provider's model, if determined.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<String>,
}

/// A provider.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProviderInfo {
    /// Its id.
    pub id: String,
    /// `ollama`, `llamafile`, `openai`, `anthropic` or `embedded`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its display name.
    pub name: String,
    /// Whether it is available.
    pub available: bool,
    /// Whether it is the default provider.
    pub is_default: bool,
    /// Whether its type, used as a name, refers to it.
    pub is_type_default: bool,
    /// Whether its models can call tools.
    pub supports_tools: bool,
    /// Always false: it is not part of a browser.
    pub is_native: bool,
    /// `bridge`.
    pub runtime: String,
    /// Whether weights must be downloaded first.
    pub download_required: bool,
    /// Progress of a running download, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub download_progress: Option<f64>,
    /// Its URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub base_url: Option<String>,
    /// The number of its models, as far as known.
    pub models: usize,
    /// The name of its stored key, if it uses one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub key_name: Option<String>,
    /// The source of its key: `environment` or `secrets`. Absent means there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub key_source: Option<String>,
    /// Why it is unavailable, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<String>,
}

/// The models.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelList {
    /// The models of all available providers.
    pub models: Vec<ModelInfo>,
    /// The default model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub default: Option<DefaultModel>,
}

/// A model.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    /// `provider/model`, the name for requests.
    pub id: String,
    /// The provider.
    pub provider: String,
    /// Its name at the provider.
    pub name: String,
    /// Whether it is the default model, if determined.
    pub is_default: bool,
}

/// The default model to set.
#[derive(Debug, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct SetDefault {
    /// `provider`, `provider/model`, or null for the first available provider.
    pub model: Option<String>,
}

/// A provider's API key.
#[derive(Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct SetKey {
    /// The key. It is stored as a secret and never shown again.
    pub key: String,
}

/// Model activity of the last minute.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelActivity {
    /// Running chats of all providers.
    pub active: usize,
    /// Output tokens in each of the last 60 seconds, oldest first.
    pub tokens: Vec<u32>,
    /// Memory of this process, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub memory_bytes: Option<u64>,
    /// Local models.
    pub embedded: EmbeddedActivity,
}

/// Whether the engine process can run local models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum EngineState {
    /// It starts on demand.
    Ready,
    /// Its program is being built.
    Building,
    /// Its program is not installed.
    Missing,
    /// This processor is not supported.
    Unsupported,
}

/// The state of the engine, the process that runs local models.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddedActivity {
    /// Whether it can run.
    pub engine: EngineState,
    /// The loaded model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub loaded: Option<String>,
    /// Its memory: weights and conversations.
    #[ts(type = "number")]
    pub memory_bytes: u64,
    /// Running answers.
    pub active: usize,
    /// Queued requests.
    pub waiting: usize,
    /// Prompt tokens reused from earlier requests, since the start.
    #[ts(type = "number")]
    pub reused_tokens: u64,
}

/// Local and downloadable weights.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct WeightsList {
    /// Local weights.
    pub weights: Vec<WeightsInfo>,
    /// Weights in the catalog.
    pub catalog: Vec<CatalogInfo>,
    /// Running and recent downloads.
    pub pulls: Vec<PullInfo>,
}

/// Local weights.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct WeightsInfo {
    /// The model's name at the embedded provider.
    pub name: String,
    /// Size of the file.
    #[ts(type = "number")]
    pub bytes: u64,
    /// Its URL, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub source: Option<String>,
}

/// Weights in the catalog.
#[derive(Debug, Serialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CatalogInfo {
    /// The model's name.
    pub name: String,
    /// Their description.
    pub title: String,
    /// Size of the download.
    #[ts(type = "number")]
    pub bytes: u64,
    /// Its licence.
    pub license: String,
    /// Whether they are already local.
    pub installed: bool,
}

/// A download of weights.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct PullInfo {
    /// The model's name.
    pub name: String,
    /// Its phase.
    pub step: PullStep,
    /// Downloaded bytes.
    #[ts(type = "number")]
    pub fetched: u64,
    /// Total bytes; 0 if unknown.
    #[ts(type = "number")]
    pub total: u64,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error: Option<String>,
}

/// The phase of a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum PullStep {
    /// Downloading.
    Fetching,
    /// Verifying the checksum.
    Checking,
    /// Unpacking.
    Unpacking,
    /// Done.
    Done,
    /// Failed, see `error`.
    Failed,
}

/// The weights to download, by `name` or by `url`.
#[derive(Debug, Default, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields, default)]
pub struct PullWeights {
    /// A name from the catalog, or of an earlier download by URL to retry.
    #[ts(optional)]
    pub name: Option<String>,
    /// The address of a GGUF file: https, or http with `sha256` or on the server's own machine.
    #[ts(optional)]
    pub url: Option<String>,
    /// The hash that the file at `url` must have.
    #[ts(optional)]
    pub sha256: Option<String>,
}
