//! The settings: defaults, then `config.yaml`, then the environment, then the command line.

mod booking;
mod check;
mod check_remote;
mod relay;
mod runner;
#[cfg(test)]
mod tests;

pub use runner::RunnerSettings;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use gangway_cinema::BookingConfig;
use gangway_http::LimitsConfig;
use gangway_providers::{ModelsConfig, ProviderConfig};
use gangway_relay::RelayConfig;
use gangway_remote::config::{PersonaConfig, ProjectConfig, RemoteConfig, RemoteSettings};
use gangway_tools::{BadEntry, ServerEntry, ToolSettings, ToolsConfig};

/// The documented example that `gangway config example` prints; a test checks that it has every setting with its
/// default.
pub const EXAMPLE: &str = include_str!("example.yaml");

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub listen: String,
    /// Further host names of this server.
    pub hosts: Vec<String>,
    pub authentication: Authentication,
    /// Further origins whose pages may use the API.
    pub allowed_origins: Vec<String>,
    pub apps: Vec<PathBuf>,
    /// URL of apps with the placeholder `{app}`; default `http://{app}.localhost` with our port.
    pub apps_url: Option<String>,
    /// Agent of sessions that name none.
    pub default_agent: String,
    pub agents: BTreeMap<String, AgentConfig>,
    pub models: ModelsConfig,
    /// Model providers by name, in addition to detected ones.
    pub providers: BTreeMap<String, ProviderConfig>,
    pub secrets: gangway_secrets::SecretStore,
    pub tools: ToolsConfig,
    /// MCP servers by name, in the format that other hosts use.
    pub mcp_servers: BTreeMap<String, ServerEntry>,
    pub remote_agents: RemoteConfig,
    /// Projects of remote agents, by name.
    pub projects: BTreeMap<String, ProjectConfig>,
    /// Personas of remote agents, by slug.
    pub personas: BTreeMap<String, PersonaConfig>,
    pub relay: RelayConfig,
    pub booking: BookingConfig,
    pub sessions: SessionsConfig,
    pub limits: LimitsConfig,
    pub log: LogConfig,
}

/// Who has access without a login or key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Authentication {
    #[default]
    Required,
    /// Every program and user of this machine: they can read and change everything here, use the user's models, and
    /// start programs as the user who runs the server.
    OpenToThisMachine,
}

/// An agent that follows a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    /// The script file, relative to the config file.
    pub script: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SessionsConfig {
    /// Seconds until an unused session is unloaded from memory.
    pub idle_seconds: u64,
    /// Queue limit of a session.
    pub queued_prompts: usize,
    /// Events kept per session; 0 keeps all.
    pub kept_events: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogConfig {
    pub format: LogFormat,
    /// A level, or a `tracing` filter.
    pub level: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Human-readable.
    Text,
    /// One JSON object per line.
    Json,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:3000".into(),
            hosts: Vec::new(),
            authentication: Authentication::default(),
            allowed_origins: Vec::new(),
            apps: Vec::new(),
            apps_url: None,
            default_agent: "builtin".into(),
            agents: BTreeMap::new(),
            models: ModelsConfig::default(),
            providers: BTreeMap::new(),
            secrets: gangway_secrets::SecretStore::default(),
            tools: ToolsConfig::default(),
            mcp_servers: BTreeMap::new(),
            remote_agents: RemoteConfig::default(),
            projects: BTreeMap::new(),
            personas: BTreeMap::new(),
            relay: RelayConfig::default(),
            booking: BookingConfig::default(),
            sessions: SessionsConfig::default(),
            limits: LimitsConfig::default(),
            log: LogConfig::default(),
        }
    }
}

impl Default for SessionsConfig {
    fn default() -> Self {
        Self {
            idle_seconds: 60,
            queued_prompts: 32,
            kept_events: 0,
        }
    }
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            format: LogFormat::Text,
            level: "info".into(),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{path}: {reason}", path = path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("{path}: {reason}", path = path.display())]
    Wrong {
        path: PathBuf,
        /// With the line number.
        reason: String,
    },
    #[error("invalid environment variable {name}: {reason}")]
    Variable { name: String, reason: String },
    #[error("mcp_servers: {0}")]
    Server(#[from] BadEntry),
    #[error("{key} is {value:?}, but must be {allowed}")]
    Refused {
        key: &'static str,
        value: String,
        allowed: String,
    },
}

impl Config {
    /// Reads a config file; paths in it are relative to the file.
    pub fn read(file: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(file).map_err(|e| ConfigError::Unreadable {
            path: file.to_owned(),
            reason: e.to_string(),
        })?;
        let mut config = Self::parse(&text).map_err(|reason| ConfigError::Wrong {
            path: file.to_owned(),
            reason,
        })?;
        let base = file.parent().unwrap_or(Path::new(""));
        for app in &mut config.apps {
            *app = base.join(&app);
        }
        for agent in config.agents.values_mut() {
            agent.script = base.join(&agent.script);
        }
        for project in config.projects.values_mut() {
            project.folder = base.join(&project.folder);
        }
        if let Some(file) = &mut config.remote_agents.guardrails_file {
            *file = base.join(&file);
        }
        for persona in config.personas.values_mut() {
            persona.folder = base.join(&persona.folder);
        }
        Ok(config)
    }

    #[must_use]
    pub fn model_settings(&self) -> gangway_providers::Settings {
        gangway_providers::Settings {
            models: self.models.clone(),
            providers: self.providers.clone(),
            secrets: self.secrets,
        }
    }

    #[must_use]
    pub fn tool_settings(&self) -> ToolSettings {
        ToolSettings {
            tools: self.tools.clone(),
            servers: self.mcp_servers.clone(),
        }
    }

    #[must_use]
    pub fn remote_settings(&self) -> RemoteSettings {
        RemoteSettings {
            remote: self.remote_agents.clone(),
            projects: self.projects.clone(),
            personas: self.personas.clone(),
        }
    }

    pub fn parse(text: &str) -> Result<Self, String> {
        let only_comments = text
            .lines()
            .all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'));
        if only_comments {
            return Ok(Self::default());
        }
        // The line may contain a key: the error has its number, not its text.
        serde_saphyr::from_str(text).map_err(|error| error.without_snippet().to_string())
    }

    /// Applies environment variables: `limits.body_bytes` is `GANGWAY_LIMITS_BODY_BYTES`.
    pub fn with_environment(
        self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let mut settings = serde_json::to_value(&self).unwrap_or_default();
        let mut used = Vec::new();
        overlay(&mut settings, "GANGWAY", &variable, &mut used)?;
        if used.is_empty() {
            return Ok(self);
        }
        let names = used.join(", ");
        serde_json::from_value(settings).map_err(|e| ConfigError::Variable {
            name: names,
            reason: e.to_string(),
        })
    }
}

/// Sets every leaf that has a variable, parsed as YAML so that lists and numbers work.
fn overlay(
    value: &mut Value,
    name: &str,
    variable: &impl Fn(&str) -> Option<String>,
    used: &mut Vec<String>,
) -> Result<(), ConfigError> {
    if let Value::Object(fields) = value
        && !fields.is_empty()
    {
        for (key, field) in fields {
            overlay(
                field,
                &format!("{name}_{}", key.to_uppercase()),
                variable,
                used,
            )?;
        }
        return Ok(());
    }
    let Some(text) = variable(name) else {
        return Ok(());
    };
    let wrong = |reason: String| ConfigError::Variable {
        name: name.to_owned(),
        reason,
    };
    *value = match &value {
        Value::String(_) => Value::String(text),
        // Text that YAML parses as null is meant as text.
        Value::Null => Value::String(text),
        Value::Array(_) if !text.trim_start().starts_with('[') => text
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(Value::from)
            .collect(),
        _ => serde_saphyr::from_str(&text).map_err(|e| wrong(e.without_snippet().to_string()))?,
    };
    used.push(name.to_owned());
    Ok(())
}
