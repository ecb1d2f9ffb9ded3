//! Settings of models and providers.

use std::collections::BTreeMap;

use gangway_models::registry::Kind;
use gangway_secrets::SecretStore;
use serde::{Deserialize, Serialize};

/// The settings that determine the providers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// How models are used.
    pub models: ModelsConfig,
    /// Providers by id, in addition to detected ones.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// Where their API keys are stored.
    pub secrets: SecretStore,
}

/// How models are used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelsConfig {
    /// The default: a provider, or `provider/model`.
    pub default: Option<String>,
    /// Whether to detect ollama and llamafile on this machine.
    pub detect: bool,
    /// Number of retries if a request fails before any answer.
    pub retries: u32,
    /// Timeout of a silent provider, in seconds.
    pub silence_seconds: u64,
    /// Local models.
    pub embedded: EmbeddedConfig,
}

/// Local models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EmbeddedConfig {
    /// Seconds until an unused model is unloaded.
    pub idle_seconds: u64,
    /// Context size in tokens; default is the model's own, at most 8192.
    pub context_tokens: Option<u32>,
    /// Threads; default is all cores but one.
    pub threads: Option<usize>,
    /// Maximum number of concurrent answers.
    pub parallel: usize,
}

/// A model provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderConfig {
    /// Its API.
    #[serde(rename = "type")]
    pub kind: ProviderKind,
    /// Its URL.
    pub base_url: Option<String>,
    /// Name of the secret or environment variable with its API key.
    pub key: Option<String>,
    /// Its default model.
    pub model: Option<String>,
}

/// The API of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// Ollama's native API.
    Ollama,
    /// A llamafile, or llama.cpp's server.
    Llamafile,
    /// OpenAI, or any server with its chat completions API.
    OpenAi,
    /// Anthropic's Messages API.
    Anthropic,
}

impl From<ProviderKind> for Kind {
    fn from(kind: ProviderKind) -> Self {
        match kind {
            ProviderKind::Ollama => Self::Ollama,
            ProviderKind::Llamafile => Self::Llamafile,
            ProviderKind::OpenAi => Self::OpenAi,
            ProviderKind::Anthropic => Self::Anthropic,
        }
    }
}

impl Default for ModelsConfig {
    fn default() -> Self {
        Self {
            default: None,
            detect: true,
            retries: 2,
            silence_seconds: 120,
            embedded: EmbeddedConfig::default(),
        }
    }
}

impl Default for EmbeddedConfig {
    fn default() -> Self {
        Self {
            idle_seconds: 300,
            context_tokens: None,
            threads: None,
            parallel: 4,
        }
    }
}

/// Whether this can be the base URL of requests.
#[must_use]
pub fn is_base_url(url: &str) -> bool {
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"));
    rest.is_some_and(|rest| {
        let host = rest.split(['/', ':']).next().unwrap_or_default();
        let bracketed = rest.starts_with('[');
        (!host.is_empty() || bracketed) && !rest.contains(char::is_whitespace)
    })
}
