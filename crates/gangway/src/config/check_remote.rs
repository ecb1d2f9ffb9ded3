//! Validation of the settings of remote agents.

use gangway_providers::is_base_url;
use gangway_remote::project_name::{PROJECT_NAMES, is_project_name};

use super::{
    Config, ConfigError,
    check::{ensure, is_origin, within},
};

impl Config {
    pub(super) fn check_remote(&self) -> Result<(), ConfigError> {
        let remote = &self.remote_agents;
        for origin in &remote.allowed_origins {
            ensure(
                is_origin(origin),
                "remote_agents.allowed_origins",
                origin,
                "origins such as https://shop.example.com",
            )?;
        }
        if let Some(url) = &remote.public_url {
            ensure(
                is_base_url(url),
                "remote_agents.public_url",
                url,
                "a URL such as https://agents.example.com",
            )?;
        }
        if let Some(speech) = &remote.speech {
            ensure(
                is_base_url(&speech.url),
                "remote_agents.speech.url",
                &gangway_models::shown_url(&speech.url),
                "a URL such as http://localhost:8000/v1",
            )?;
        }
        within(
            "remote_agents.creation_timeout_seconds",
            remote.creation_timeout_seconds,
            1..=600,
        )?;
        within("remote_agents.max_agents", remote.max_agents, 0..=10_000)?;
        within(
            "remote_agents.max_agents_per_key",
            remote.max_agents_per_key,
            0..=10_000,
        )?;
        within(
            "remote_agents.idle_minutes",
            remote.idle_minutes,
            0..=525_600,
        )?;
        within("remote_agents.token_hours", remote.token_hours, 0..=87_600)?;
        within(
            "remote_agents.upload_bytes",
            remote.upload_bytes,
            1..=1 << 30,
        )?;
        within(
            "remote_agents.uploads_bytes",
            remote.uploads_bytes,
            1..=1 << 50,
        )?;
        ensure(
            remote.guardrails.is_none() || remote.guardrails_file.is_none(),
            "remote_agents.guardrails",
            "a text",
            "a text, or guardrails_file with the path of a file, but not both",
        )?;
        for percent in &remote.context_warnings {
            within("remote_agents.context_warnings", *percent, 1..=100)?;
        }
        within(
            "remote_agents.hand_over_percent",
            remote.hand_over_percent,
            0..=100,
        )?;
        for (name, backend) in &remote.backends {
            let commands = [&backend.acp, &backend.terminal];
            let given: Vec<_> = commands.into_iter().flatten().collect();
            ensure(
                name != "builtin" && given.len() == 1 && given.iter().all(|c| !c.is_empty()),
                "remote_agents.backends",
                name,
                "a name other than builtin with one command, acp or terminal",
            )?;
            if let Some(prompt) = &backend.prompt {
                ensure(
                    regex::Regex::new(prompt).is_ok(),
                    "remote_agents.backends.*.prompt",
                    prompt,
                    "a regular expression such as '\\$ $'",
                )?;
            }
        }
        for (name, project) in &self.projects {
            ensure(is_project_name(name), "projects", name, PROJECT_NAMES)?;
            let backend = project.backend.as_deref().unwrap_or("builtin");
            ensure(
                backend == "builtin" || remote.backends.contains_key(backend),
                "projects.*.backend",
                backend,
                "builtin or one of remote_agents.backends",
            )?;
        }
        for slug in self.personas.keys() {
            ensure(
                slug.parse::<gangway_core::Slug>().is_ok(),
                "personas",
                slug,
                "names of at most 64 lowercase letters, digits and -",
            )?;
        }
        Ok(())
    }
}
