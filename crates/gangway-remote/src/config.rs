//! Settings of remote agents.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RemoteConfig {
    pub enabled: bool,
    /// Origins whose pages may embed an agent's chat and use its endpoints.
    pub allowed_origins: Vec<String>,
    /// Default features of the chat.
    pub embed_defaults: Features,
    /// Timeout of creating an agent, in seconds.
    pub creation_timeout_seconds: u64,
    /// The server's public URL; default is the `Host` of the request.
    pub public_url: Option<String>,
    pub max_agents: usize,
    pub max_agents_per_key: usize,
    /// Minutes until an idle agent is ended; 0 for never.
    pub idle_minutes: u64,
    /// Lifetime of a session token in hours; 0 for as long as its agent and one day.
    pub token_hours: u64,
    /// Size limit of one upload.
    pub upload_bytes: u64,
    /// Size limit of all uploads of one agent.
    pub uploads_bytes: u64,
    /// Allowed media types of uploads.
    pub upload_types: Vec<String>,
    /// Speech recognition.
    pub speech: Option<SpeechConfig>,
    /// Instructions that every agent is given before its persona.
    pub guardrails: Option<String>,
    /// A file with such instructions, read whenever an agent starts.
    pub guardrails_file: Option<PathBuf>,
    /// Percentages of the context window at which the session gets a warning; none when empty.
    pub context_warnings: Vec<u8>,
    /// Percentage of the context window from which an agent compacts its context; 0 for never.
    pub hand_over_percent: u8,
    /// Programs that agents run, by name, in addition to `builtin`.
    #[serde(alias = "brains")]
    pub backends: BTreeMap<String, BackendConfig>,
}

#[derive(Debug, Clone, Default)]
pub struct RemoteSettings {
    pub remote: RemoteConfig,
    pub projects: BTreeMap<String, ProjectConfig>,
    pub personas: BTreeMap<String, PersonaConfig>,
}

/// Optional features of an agent's chat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields, default)]
pub struct Features {
    pub file_upload: bool,
    /// Shows how much of the context window is used.
    pub context_usage: bool,
    pub voice_mic: bool,
}

/// A speech recognition server with OpenAI's API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpeechConfig {
    /// Such as `http://localhost:8000/v1`.
    pub url: String,
    pub model: String,
    /// Name of the secret or variable with its API key.
    #[serde(default)]
    pub key: Option<String>,
}

/// The program that an agent runs: exactly one of the two commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackendConfig {
    /// A program that speaks the Agent Client Protocol, with arguments.
    #[serde(default)]
    pub acp: Option<Vec<String>>,
    /// A terminal program, with arguments.
    #[serde(default)]
    pub terminal: Option<Vec<String>>,
    /// Environment variables; `${secret:NAME}` inserts a secret.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// A pattern that the last line of a terminal program matches when it waits for input.
    #[serde(default)]
    pub prompt: Option<String>,
    /// How long without output ends a terminal program's turn, in milliseconds.
    #[serde(default = "quiet")]
    pub quiet_ms: u64,
}

impl BackendConfig {
    /// Whether its first start downloads the program.
    #[must_use]
    pub fn fetches_itself(&self) -> bool {
        let command = self.acp.as_deref().or(self.terminal.as_deref());
        let mut message = command.unwrap_or_default().iter().map(String::as_str);
        let program = message.next().unwrap_or_default();
        let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
        let program = program.split('.').next().unwrap_or_default();
        match program {
            "npx" | "bunx" | "uvx" | "pnpx" => true,
            "npm" | "pnpm" | "yarn" | "bun" | "uv" | "pipx" | "docker" | "podman" => {
                message.any(|word| ["exec", "dlx", "x", "tool", "run"].contains(&word))
            }
            _ => false,
        }
    }
}

fn quiet() -> u64 {
    800
}

/// A folder that agents work in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct ProjectConfig {
    #[ts(type = "string")]
    #[schema(value_type = String)]
    pub folder: PathBuf,
    /// `builtin`, or one of `remote_agents.backends`.
    #[serde(alias = "brain", default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub backend: Option<String>,
    /// The model of the built-in agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<String>,
    /// The MCP servers of its agents; default is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub mcp_servers: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct PersonaConfig {
    /// A folder with `skill.md` and, optionally, `experience.md`.
    #[ts(type = "string")]
    #[schema(value_type = String)]
    pub folder: PathBuf,
    /// Whether new agents can have it.
    #[serde(default = "yes")]
    pub active: bool,
}

fn yes() -> bool {
    true
}

impl Default for RemoteConfig {
    fn default() -> Self {
        let types = [
            "image/*",
            "audio/*",
            "text/*",
            "application/pdf",
            "application/json",
            "application/zip",
        ];
        Self {
            enabled: true,
            allowed_origins: Vec::new(),
            embed_defaults: Features::default(),
            creation_timeout_seconds: 15,
            public_url: None,
            max_agents: 20,
            max_agents_per_key: 10,
            idle_minutes: 24 * 60,
            token_hours: 0,
            upload_bytes: 25 << 20,
            uploads_bytes: 256 << 20,
            upload_types: types.map(str::to_owned).into(),
            speech: None,
            guardrails: None,
            guardrails_file: None,
            context_warnings: vec![80, 95],
            hand_over_percent: 90,
            backends: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_that_are_fetched_by_their_first_start_are_known_by_their_command() {
        let fetches = |command: &[&str]| {
            let words: Vec<_> = command.iter().map(|word| (*word).to_owned()).collect();
            let config = serde_json::json!({ "acp": words });
            let config: BackendConfig = serde_json::from_value(config).unwrap();
            config.fetches_itself()
        };
        for command in [
            &["npx", "-y", "x"][..],
            &["/usr/bin/npx", "x"],
            &["npx.cmd", "x"],
            &["npm", "exec", "x"],
            &["uv", "tool", "run", "x"],
        ] {
            assert!(fetches(command), "{command:?}");
        }
        for command in [&["gemini", "--acp"][..], &["npm", "start"], &["bash"]] {
            assert!(!fetches(command), "{command:?}");
        }
    }
}
