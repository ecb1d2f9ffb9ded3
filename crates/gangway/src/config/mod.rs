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

/// The documented example that `gangway config example` prints; it holds every setting with its default.
pub const EXAMPLE: &str = include_str!("example.yaml");

/// All settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where to listen.
    pub listen: String,
    /// Further host names under which this server is reached.
    pub hosts: Vec<String>,
    /// Who gets in without a login or a key.
    pub authentication: Authentication,
    /// Further origins whose pages may use the API.
    pub allowed_origins: Vec<String>,
    /// Folders with apps.
    pub apps: Vec<PathBuf>,
    /// Where apps are, with `{app}` in it; `http://{app}.localhost` and our port when absent.
    pub apps_url: Option<String>,
    /// The agent of sessions that name none.
    pub default_agent: String,
    /// Scripted agents by name.
    pub agents: BTreeMap<String, AgentConfig>,
    /// Which models are used and how.
    pub models: ModelsConfig,
    /// Model providers by name, beside those that are found.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// Where the keys of model providers are kept.
    pub secrets: gangway_secrets::Place,
    /// How tools are called.
    pub tools: ToolsConfig,
    /// MCP servers by name, in the form that other hosts use.
    pub mcp_servers: BTreeMap<String, ServerEntry>,
    /// How agents for other people's sites are run.
    pub remote_agents: RemoteConfig,
    /// Folders that such agents work in, by name.
    pub projects: BTreeMap<String, ProjectConfig>,
    /// Who such agents can be, by slug.
    pub personas: BTreeMap<String, PersonaConfig>,
    /// How pages and external agents are joined.
    pub relay: RelayConfig,
    /// The cinema behind the booking app.
    pub booking: BookingConfig,
    /// How sessions are kept.
    pub sessions: SessionsConfig,
    /// What a client may take.
    pub limits: LimitsConfig,
    /// What is logged.
    pub log: LogConfig,
}

/// Who gets in without a login or a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Authentication {
    /// Nobody.
    #[default]
    Required,
    /// Every program and every user of this machine: they can read and change everything here, use the person's models, and
    /// start programs as the person who runs the server.
    OpenToThisMachine,
}

/// An agent that answers from a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    /// The script file, relative to the config file.
    pub script: PathBuf,
}

/// How sessions are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SessionsConfig {
    /// Seconds until an unused session leaves memory.
    pub idle_seconds: u64,
    /// Messages that may wait in one session.
    pub queued_prompts: usize,
    /// Events a session keeps at the most; 0 keeps all.
    pub kept_events: u64,
}

/// What is logged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogConfig {
    /// How a line looks.
    pub format: LogFormat,
    /// What is worth a line: a level, or a filter of tracing's form.
    pub level: String,
}

/// How a log line looks.
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
            secrets: gangway_secrets::Place::default(),
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

/// Settings that cannot be used, and where they are wrong.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{path}: {reason}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The file does not fit.
    #[error("{path}: {reason}", path = path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What is wrong, with its line.
        reason: String,
    },
    /// An environment variable does not fit.
    #[error("the environment variable {name} does not fit: {reason}")]
    Variable {
        /// The variable.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// An MCP server that is none.
    #[error("mcp_servers: {0}")]
    Server(#[from] BadEntry),
    /// A setting that no server could work with.
    #[error("{key} is {value:?}, but must be {allowed}")]
    Refused {
        /// The setting.
        key: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        allowed: String,
    },
}

impl Config {
    /// Reads a config file; folders in it are relative to the file.
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

    /// What decides which model providers there are.
    #[must_use]
    pub fn model_settings(&self) -> gangway_providers::Settings {
        gangway_providers::Settings {
            models: self.models.clone(),
            providers: self.providers.clone(),
            secrets: self.secrets,
        }
    }

    /// What decides which MCP servers there are.
    #[must_use]
    pub fn tool_settings(&self) -> ToolSettings {
        ToolSettings {
            tools: self.tools.clone(),
            servers: self.mcp_servers.clone(),
        }
    }

    /// The settings of remote agents.
    #[must_use]
    pub fn remote_settings(&self) -> RemoteSettings {
        RemoteSettings {
            remote: self.remote_agents.clone(),
            projects: self.projects.clone(),
            personas: self.personas.clone(),
        }
    }

    /// Reads the text of a config file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let only_comments = text
            .lines()
            .all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'));
        if only_comments {
            return Ok(Self::default());
        }
        // The line that is wrong may hold a key: its number is told, not its text.
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

/// Sets every leaf that has a variable, reading its text as YAML so that lists and numbers work.
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
        // Text that YAML would read as something else is still the text that was meant.
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
