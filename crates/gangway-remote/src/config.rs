//! Settings of remote agents.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

/// How agents for other people's sites are run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RemoteConfig {
    /// Whether there are any.
    pub enabled: bool,
    /// Origins whose pages may hold the chat of an agent in a frame and use its endpoints.
    pub allowed_origins: Vec<String>,
    /// What the chat shows beside the conversation, when nobody says.
    pub embed_defaults: Features,
    /// Seconds in which an agent must be ready.
    pub creation_timeout_seconds: u64,
    /// Where others find this server; as it was asked when absent.
    pub public_url: Option<String>,
    /// Agents at once.
    pub max_agents: usize,
    /// Agents of one key at once.
    pub max_agents_per_key: usize,
    /// Minutes after which an agent that nobody talks to is ended; 0 for never.
    pub idle_minutes: u64,
    /// Hours for which a session token is good; 0 for as long as its agent lives and a day.
    pub token_hours: u64,
    /// Bytes of one upload.
    pub upload_bytes: u64,
    /// Bytes of all uploads of one agent.
    pub uploads_bytes: u64,
    /// Types of files that may be uploaded.
    pub upload_types: Vec<String>,
    /// What turns speech into text.
    pub speech: Option<SpeechConfig>,
    /// Rules that every agent is given before its persona.
    pub guardrails: Option<String>,
    /// A file with such rules, read whenever an agent starts.
    pub guardrails_file: Option<PathBuf>,
    /// Percentages of the model's window at which the conversation is warned; none when empty.
    pub context_warnings: Vec<u8>,
    /// The percentage of the model's window from which on an agent continues in a fresh one, with a summary; 0 for never.
    pub hand_over_percent: u8,
    /// What thinks in agents, by name, beside `builtin`.
    pub brains: BTreeMap<String, BrainConfig>,
}

/// All settings of remote agents.
#[derive(Debug, Clone, Default)]
pub struct RemoteSettings {
    /// `remote_agents`
    pub remote: RemoteConfig,
    /// `projects`
    pub projects: BTreeMap<String, ProjectConfig>,
    /// `personas`
    pub personas: BTreeMap<String, PersonaConfig>,
}

/// What the chat of an agent shows beside the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields, default)]
pub struct Features {
    /// Files can be sent.
    pub file_upload: bool,
    /// How full the model's window is.
    pub context_usage: bool,
    /// The microphone.
    pub voice_mic: bool,
}

/// A server that turns speech into text, as OpenAI's does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpeechConfig {
    /// Its address, such as `http://localhost:8000/v1`.
    pub url: String,
    /// The model.
    pub model: String,
    /// The name of the secret or variable with its key.
    #[serde(default)]
    pub key: Option<String>,
}

/// What thinks in an agent: one of the two commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BrainConfig {
    /// A program that speaks the Agent Client Protocol, and its arguments.
    #[serde(default)]
    pub acp: Option<Vec<String>>,
    /// A program for terminals, and its arguments.
    #[serde(default)]
    pub terminal: Option<Vec<String>>,
    /// Variables of its environment; `${secret:NAME}` stands for a secret.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// A pattern that the last line of a terminal program fits when it waits for input.
    #[serde(default)]
    pub prompt: Option<String>,
    /// How long a terminal program must be quiet to be done, in milliseconds.
    #[serde(default = "quiet")]
    pub quiet_ms: u64,
}

impl BrainConfig {
    /// Whether its first start fetches the program.
    #[must_use]
    pub fn fetches_itself(&self) -> bool {
        let command = self.acp.as_deref().or(self.terminal.as_deref());
        let mut words = command.unwrap_or_default().iter().map(String::as_str);
        let program = words.next().unwrap_or_default();
        let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
        let program = program.split('.').next().unwrap_or_default();
        match program {
            "npx" | "bunx" | "uvx" | "pnpx" => true,
            "npm" | "pnpm" | "yarn" | "bun" | "uv" | "pipx" | "docker" | "podman" => {
                words.any(|word| ["exec", "dlx", "x", "tool", "run"].contains(&word))
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
    /// The folder.
    #[ts(type = "string")]
    #[schema(value_type = String)]
    pub folder: PathBuf,
    /// What thinks: `builtin`, or one of `remote_agents.brains`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub brain: Option<String>,
    /// The model, for the built-in loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<String>,
    /// The MCP servers that its agents get; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub mcp_servers: Option<Vec<String>>,
}

/// Who an agent can be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct PersonaConfig {
    /// The folder with `skill.md`, and `experience.md` if there is one.
    #[ts(type = "string")]
    #[schema(value_type = String)]
    pub folder: PathBuf,
    /// Whether agents can be made of it.
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
            brains: BTreeMap::new(),
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
            let config: BrainConfig = serde_json::from_value(config).unwrap();
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
