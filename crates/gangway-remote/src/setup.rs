//! The setup that a runner gets on its first connection: persona, program, and settings of the server.

use std::collections::BTreeMap;

use gangway_runner::wire::{Backend, ContextLimits, Persona, Setup};
use gangway_secrets::{SecretName, Secrets, fill_placeholders};

use secrecy::ExposeSecret;

use super::{LiveAgent, RemoteAgents, registry};

impl RemoteAgents {
    pub(super) async fn setup(&self, agent: &LiveAgent) -> Result<Setup, String> {
        let record = agent.record();
        let persona = match &record.adopted {
            // The program keeps its own identity.
            Some(adopted) if !adopted.has_persona => Persona {
                slug: record.persona.clone(),
                skill: String::new(),
                experience: None,
            },
            _ => self.persona(&record.persona).await?,
        };
        Ok(Setup {
            backend: match record.adopted {
                Some(adopted) => Backend::Adopted(adopted.pane),
                None => self.backend(&record.backend).await?,
            },
            project: record.project,
            folder: record.folder.into(),
            persona,
            guardrails: self.guardrails()?,
            context: ContextLimits {
                warn_percent: self.config.context_warnings.clone(),
                hand_over_percent: Some(self.config.hand_over_percent).filter(|at| *at > 0),
            },
            model: record.model,
            mcp_servers: record.mcp_servers,
            settings: (self.runner_settings)().map_err(|error| error.to_string())?,
        })
    }

    async fn persona(&self, slug: &str) -> Result<Persona, String> {
        let persona = self.registry.persona(slug).await;
        let persona = persona.map_err(|error| error.to_string())?;
        let persona = persona.ok_or("its persona was removed")?;
        registry::read(slug, &persona.folder).map_err(|error| error.to_string())
    }

    /// The instructions for every agent. If they cannot be read, no agent starts.
    pub(super) fn guardrails(&self) -> Result<Option<String>, String> {
        let remote = &self.config;
        match &remote.guardrails_file {
            None => Ok(remote.guardrails.clone()),
            Some(file) => registry::read_text(file)
                .map(Some)
                .map_err(|error| format!("cannot read remote_agents.guardrails_file: {error}")),
        }
    }

    async fn backend(&self, name: &str) -> Result<Backend, String> {
        if name == "builtin" {
            return Ok(Backend::Builtin);
        }
        let config = self.config.backends.get(name).cloned();
        let config = config.ok_or_else(|| format!("backend {name:?} not found in config.yaml"))?;
        let (secrets, id) = (self.models.secrets.clone(), name.to_owned());
        let filled = tokio::task::spawn_blocking(move || {
            let fill = |(name, value): (String, String)| {
                let value = fill_placeholders(&value, |name| stored_secret(&secrets, name));
                let value = value.map_err(|error| format!("backend {id:?}: {error}"))?;
                Ok((name, value))
            };
            config
                .env
                .into_iter()
                .map(fill)
                .collect::<Result<BTreeMap<_, _>, String>>()
        });
        let env = filled.await.map_err(|error| error.to_string())??;
        match (config.acp, config.terminal) {
            (Some(command), None) => Ok(Backend::Acp { command, env }),
            (None, Some(command)) => Ok(Backend::Terminal {
                command,
                env,
                prompt: config.prompt,
                quiet_ms: config.quiet_ms,
            }),
            _ => Err(format!("backend {name:?} has no command")),
        }
    }
}

fn stored_secret(secrets: &Secrets, name: &str) -> Option<String> {
    let name = SecretName::parse(name).ok()?;
    let value = secrets.get(&name).ok()??;
    Some(value.expose_secret().to_owned())
}
