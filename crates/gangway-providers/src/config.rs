//! Settings of models and their providers.

use std::collections::BTreeMap;

use gangway_models::registry::Kind;
use gangway_secrets::Place;
use serde::{Deserialize, Serialize};

/// The settings that decide which providers there are.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Which models are used and how.
    pub models: ModelsConfig,
    /// Providers by name, beside those that are detected.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// Where their keys are kept.
    pub secrets: Place,
}

/// Which models are used and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelsConfig {
    /// What to use when nobody chose: a provider, or a provider and a model with a slash between.
    pub default: Option<String>,
    /// Whether to look for ollama and llamafile on this machine.
    pub detect: bool,
    /// Further attempts when a request fails before any answer.
    pub retries: u32,
    /// Seconds that a provider may say nothing.
    pub silence_seconds: u64,
    /// Models on this machine.
    pub embedded: EmbeddedConfig,
}

/// Models on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EmbeddedConfig {
    /// Seconds until an unused model leaves memory.
    pub idle_seconds: u64,
    /// Tokens of a conversation that the model reads at the most; absent means what it was trained for, up to 8192.
    pub context_tokens: Option<u32>,
    /// Threads; absent means all cores but one.
    pub threads: Option<usize>,
    /// Answers side by side.
    pub parallel: usize,
}

/// A model provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderConfig {
    /// What it speaks.
    #[serde(rename = "type")]
    pub kind: ProviderKind,
    /// Where it is.
    pub base_url: Option<String>,
    /// The name of the secret or environment variable with its key.
    pub key: Option<String>,
    /// The model to use when nobody names one.
    pub model: Option<String>,
}

/// What a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// Ollama's native API.
    Ollama,
    /// A llamafile or llama.cpp's server.
    Llamafile,
    /// OpenAI, or any server that speaks its chat completions.
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

/// Whether requests can be sent below this address.
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
