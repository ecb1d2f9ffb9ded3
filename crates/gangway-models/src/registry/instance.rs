//! A configured provider and its health.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use crate::{
    Failure, ModelError, Provider,
    anthropic::Anthropic,
    http::{SILENCE, is_this_machine},
    ollama::Ollama,
    openai::OpenAi,
    remote::Retry,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Ollama,
    /// A llamafile or llama.cpp's server.
    Llamafile,
    /// OpenAI, or any compatible server.
    OpenAi,
    Anthropic,
    /// A model on this machine, run by the engine.
    Embedded,
}

impl Kind {
    /// Local ones first.
    pub const ALL: [Self; 5] = [
        Self::Ollama,
        Self::Llamafile,
        Self::OpenAi,
        Self::Anthropic,
        Self::Embedded,
    ];

    /// The name in settings and on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ollama => "ollama",
            Self::Llamafile => "llamafile",
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Embedded => "embedded",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Its name for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Ollama => "Ollama",
            Self::Llamafile => "llamafile",
            Self::OpenAi => "OpenAI",
            Self::Anthropic => "Anthropic",
            Self::Embedded => "Embedded",
        }
    }

    /// The default URL.
    #[must_use]
    pub fn usual_url(self) -> Option<&'static str> {
        match self {
            Self::Ollama => Some("http://127.0.0.1:11434"),
            Self::Llamafile => Some("http://127.0.0.1:8080/v1"),
            Self::OpenAi => Some("https://api.openai.com/v1"),
            Self::Anthropic => Some("https://api.anthropic.com"),
            Self::Embedded => None,
        }
    }

    /// The default name of the API key.
    #[must_use]
    pub fn usual_key(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("OPENAI_API_KEY"),
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::Ollama | Self::Llamafile | Self::Embedded => None,
        }
    }

    /// The order of defaults; both kinds of cloud providers rank equally.
    pub(super) fn rank(self) -> u8 {
        match self {
            Self::Ollama => 0,
            Self::Llamafile => 1,
            Self::OpenAi | Self::Anthropic => 2,
            Self::Embedded => 3,
        }
    }
}

/// The configuration of an instance.
#[derive(Clone, PartialEq, Eq)]
pub struct Spec {
    pub id: String,
    pub kind: Kind,
    /// The kind's default URL when absent.
    pub base_url: Option<String>,
    /// The name of the secret with its key.
    pub key_name: Option<String>,
    pub key: Option<String>,
    /// The default model.
    pub model: Option<String>,
    /// Retries of a request that failed before any response.
    pub retries: u32,
    /// The idle timeout.
    pub silence: Duration,
}

impl Spec {
    /// An instance with default settings.
    #[must_use]
    pub fn new(id: &str, kind: Kind) -> Self {
        Self {
            id: id.to_owned(),
            kind,
            base_url: None,
            key_name: kind.usual_key().map(str::to_owned),
            key: None,
            model: None,
            retries: Retry::default().times,
            silence: SILENCE,
        }
    }

    #[must_use]
    pub fn url(&self) -> Option<&str> {
        self.base_url.as_deref().or_else(|| self.kind.usual_url())
    }

    /// The URL without secrets.
    #[must_use]
    pub fn shown_url(&self) -> Option<String> {
        self.url().map(crate::shown_url)
    }

    /// Whether it requires an API key: only cloud providers always do.
    #[must_use]
    pub fn needs_key(&self) -> bool {
        self.kind.usual_key().is_some() && self.url() == self.kind.usual_url()
    }

    fn lacks_key(&self) -> bool {
        self.needs_key() && self.key.is_none()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// Not checked yet.
    Unknown,
    Up {
        models: Vec<String>,
        /// Whether it supports tools.
        tools: bool,
    },
    Down(ModelError),
}

pub struct Instance {
    pub spec: Spec,
    pub(super) caller: Caller,
    health: Mutex<(Health, Option<Instant>)>,
    /// The context windows of its models, where they do not change.
    pub(super) windows: Mutex<BTreeMap<String, Option<u64>>>,
}

pub(super) enum Caller {
    Ollama(Ollama),
    OpenAi(OpenAi),
    Anthropic(Anthropic),
    Embedded(Arc<dyn Provider>),
}

impl Instance {
    pub(super) fn new(spec: Spec, embedded: Arc<dyn Provider>) -> Self {
        let (key, model) = (spec.key.clone(), spec.model.clone());
        let url = spec.url().unwrap_or_default();
        let retry = Retry {
            times: spec.retries,
            ..Retry::default()
        };
        let caller = match spec.kind {
            Kind::Ollama => Caller::Ollama(
                Ollama::new(url, key, model)
                    .retrying(retry)
                    .silent_for(spec.silence),
            ),
            Kind::Llamafile | Kind::OpenAi => Caller::OpenAi(
                OpenAi::new(url, key, model)
                    .retrying(retry)
                    .silent_for(spec.silence),
            ),
            Kind::Anthropic => Caller::Anthropic(
                Anthropic::new(url, key, model)
                    .retrying(retry)
                    .silent_for(spec.silence),
            ),
            Kind::Embedded => Caller::Embedded(embedded),
        };
        Self {
            spec,
            caller,
            health: Mutex::new((Health::Unknown, None)),
            windows: Mutex::default(),
        }
    }

    pub(super) fn provider(&self) -> &dyn Provider {
        match &self.caller {
            Caller::Ollama(provider) => provider,
            Caller::OpenAi(provider) => provider,
            Caller::Anthropic(provider) => provider,
            Caller::Embedded(provider) => &**provider,
        }
    }

    #[must_use]
    pub fn health(&self) -> Health {
        self.health.lock().0.clone()
    }

    pub(super) fn set(&self, health: Health) {
        *self.health.lock() = (health, Some(Instant::now()));
    }

    #[must_use]
    pub fn models(&self) -> Vec<String> {
        match self.health() {
            Health::Up { models, .. } => models,
            Health::Unknown | Health::Down(_) => Vec::new(),
        }
    }

    /// Whether a check is free: it is on this machine.
    pub(super) fn is_near(&self) -> bool {
        self.spec.kind == Kind::Embedded || self.spec.url().is_some_and(is_this_machine)
    }

    pub(super) fn is_far_and_stale(&self, age: Duration) -> bool {
        let asked = self.health.lock().1;
        !self.is_near() && !self.spec.lacks_key() && asked.is_none_or(|at| at.elapsed() > age)
    }

    /// Whether it is on this machine and not checked yet: it is new, or has a new key.
    pub(super) fn is_near_and_new(&self) -> bool {
        self.is_near() && self.health.lock().1.is_none()
    }

    /// Checks its health and lists its models.
    pub(super) async fn look(&self, within: Duration) {
        let looking = async {
            let models = self.provider().models().await?;
            let tools = match &self.caller {
                Caller::Ollama(ollama) => ollama.knows_tools().await,
                _ => self.provider().supports_tools(),
            };
            Ok(Health::Up { models, tools })
        };
        let late = || {
            let at = self.spec.shown_url();
            let at = at.as_deref().unwrap_or("this machine");
            let message = format!("The server at {at} did not answer in time.");
            Err(ModelError::new(Failure::Timeout, message))
        };
        let answer = tokio::time::timeout(within, looking).await;
        self.set(
            answer
                .unwrap_or_else(|_| late())
                .unwrap_or_else(Health::Down),
        );
    }

    /// Whether it can take a chat now, as far as known.
    #[must_use]
    pub fn is_available(&self) -> bool {
        match self.health() {
            Health::Up { models, .. } => self.spec.kind != Kind::Embedded || !models.is_empty(),
            Health::Unknown => !self.is_near() && !self.spec.lacks_key(),
            Health::Down(_) => false,
        }
    }

    /// Whether it is configured explicitly.
    pub(super) fn is_set_up(&self) -> bool {
        self.spec.base_url.is_some()
    }

    /// The same for an automatic choice: a cloud provider that was unreachable a while ago may be back.
    pub(super) fn is_promising(&self) -> bool {
        match self.health() {
            Health::Up { models, .. } => self.spec.model.is_some() || !models.is_empty(),
            Health::Down(error) => {
                !self.is_near() && !self.spec.lacks_key() && error.failure != Failure::Unauthorized
            }
            Health::Unknown => self.is_available(),
        }
    }

    #[must_use]
    pub fn supports_tools(&self) -> bool {
        match self.health() {
            Health::Up { tools, .. } => tools,
            Health::Unknown | Health::Down(_) => self.provider().supports_tools(),
        }
    }

    /// Why it cannot be used, and what to do.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        if let Some(error) = self.unusable() {
            return Some(error.message);
        }
        match self.health() {
            Health::Up { models, .. } if models.is_empty() && self.spec.kind == Kind::Embedded => {
                Some("No model weights yet: `gangway models pull` downloads a small model.".into())
            }
            Health::Up { models, .. } if models.is_empty() => Some("No models yet.".into()),
            Health::Down(error) => Some(error.message),
            Health::Up { .. } | Health::Unknown => None,
        }
    }

    /// An error that makes any request futile.
    pub(super) fn unusable(&self) -> Option<ModelError> {
        if !self.spec.lacks_key() {
            return None;
        }
        let name = self.spec.key_name.as_deref().unwrap_or("its key");
        let message = format!(
            "{} needs an API key: set it with `gangway secrets set {name}`, or in the environment variable {name}.",
            self.spec.kind.title()
        );
        Some(ModelError::new(Failure::Unauthorized, message))
    }
}
