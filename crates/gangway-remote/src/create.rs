//! Creating an agent, step by step; each step is rolled back if a later one fails.

use std::{ffi::OsString, sync::Arc, time::Duration};

use gangway_core::{
    Command, NewSession, Receipt, Source, WhenBusy, event,
    secret::{hash, new_secret},
};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{
    AGENT, AgentId, CreateError, Flags, LiveAgent, Phase, Record, RemoteAgents, RunnerStatus,
    new_token, record::AdoptedRecord, tokens::Tokens,
};
use crate::config::{BackendConfig, PersonaConfig, ProjectConfig};

/// Timeout if the first start downloads the program, for example with `npx`.
const DOWNLOAD_SECONDS: u64 = 120;

/// How often the process of an agent that is not ready is checked.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Debug, Clone)]
pub struct NewAgent {
    pub project: String,
    pub persona: String,
    /// The first message; may be empty for an adopted agent.
    pub prompt: String,
    pub flags: Flags,
    pub caller: String,
    /// The idempotency key.
    pub once: Option<String>,
    /// The running program to adopt.
    pub adopted: Option<AdoptedRecord>,
}

#[derive(Clone)]
pub struct Created {
    pub agent: Arc<LiveAgent>,
    /// Its session token, shown only once.
    pub token: String,
}

pub(super) fn internal_error() -> CreateError {
    CreateError::Failed("internal error: the task that created the agent panicked".into())
}

/// A reserved slot under the limits; released on drop.
struct Reserved<'a> {
    remote: &'a RemoteAgents,
    caller: String,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let mut agents = self.remote.live.lock();
        if let Some(count) = agents.creating.get_mut(&self.caller) {
            *count -= 1;
            if *count == 0 {
                agents.creating.remove(&self.caller);
            }
        }
    }
}

impl RemoteAgents {
    /// Creates an agent and waits until it is ready. Cancelled if the client disconnects, which could never find the
    /// agent again.
    pub(super) async fn create_attended(
        self: &Arc<Self>,
        wanted: NewAgent,
    ) -> Result<Created, CreateError> {
        let left = CancellationToken::new();
        let _leaving = left.clone().drop_guard();
        let (answer, answered) = oneshot::channel();
        let (take, taken) = oneshot::channel();
        let remote = Arc::clone(self);
        self.tasks.spawn(async move {
            let made = remote.create_or_undo(wanted, None, left).await;
            let agent = made.as_ref().ok().map(|made| Arc::clone(&made.agent));
            let sent = answer.send(made).is_ok();
            // The client may disconnect at the very moment it is ready.
            if let Some(agent) = agent
                && !(sent && taken.await.is_ok())
            {
                remote.undo_create(&agent).await;
            }
        });
        let made = answered.await.unwrap_or_else(|_| Err(internal_error()));
        let _ = take.send(());
        made
    }

    pub(super) async fn create_or_undo(
        self: &Arc<Self>,
        wanted: NewAgent,
        once: Option<(String, String)>,
        left: CancellationToken,
    ) -> Result<Created, CreateError> {
        let settings = &self.config;
        if !settings.enabled {
            return Err(CreateError::Disabled);
        }
        let project = self.registry.project(&wanted.project).await?;
        let project = project.ok_or_else(|| CreateError::NoProject(wanted.project.clone()))?;
        if wanted
            .adopted
            .as_ref()
            .is_none_or(|adopted| adopted.has_persona)
        {
            let persona = self.registry.persona(&wanted.persona).await?;
            let persona: Option<PersonaConfig> = persona.filter(|persona| persona.active);
            if persona.is_none() {
                return Err(CreateError::NoPersona(wanted.persona));
            }
        }
        if let Err(why) = self.guardrails() {
            tracing::error!(why, "cannot create agents");
            let message = "cannot read this server's guardrails; see its log";
            return Err(CreateError::Unavailable(message.into()));
        }
        let _place = self.reserve(&wanted.caller)?;
        let backend = project.backend.as_deref();
        let backend = backend.filter(|_| wanted.adopted.is_none());
        let backend = backend.and_then(|name| settings.backends.get(name));
        let seconds = match backend.is_some_and(BackendConfig::fetches_itself) {
            true => settings.creation_timeout_seconds.max(DOWNLOAD_SECONDS),
            false => settings.creation_timeout_seconds,
        };
        let token = new_token();
        let agent = self.store_record(&wanted, project, &token, once).await?;
        let late = tokio::time::sleep(Duration::from_secs(seconds));
        let made = async {
            // Not cancelled: a tmux that is killed while starting may leave a session that appears later.
            self.start(&agent).await?;
            tokio::select! {
                made = self.bring_up(&agent, &wanted) => made,
                () = late => Err(CreateError::TooLate(seconds)),
                () = left.cancelled() => Err(CreateError::Left),
                () = self.stop.cancelled() => Err(CreateError::Unavailable("the server is stopping".into())),
            }
        };
        match made.await {
            Ok(()) => Ok(Created { agent, token }),
            Err(error) => {
                self.undo_create(&agent).await;
                Err(error)
            }
        }
    }

    /// Reserves a slot under the limits.
    fn reserve(&self, caller: &str) -> Result<Reserved<'_>, CreateError> {
        let settings = &self.config;
        let mut agents = self.live.lock();
        let alive = agents.by_id.values().filter_map(|agent| {
            let record = agent.record();
            // Agents being created are counted separately.
            let counts = matches!(record.phase, Phase::Ready | Phase::Ending);
            counts.then_some(record.caller)
        });
        let alive: Vec<String> = alive.collect();
        let own = alive.iter().filter(|one| *one == caller).count();
        let making = |of: Option<&str>| -> usize {
            let counted = agents.creating.iter();
            let target = counted.filter(|(name, _)| of.is_none_or(|of| of == *name));
            target.map(|(_, count)| *count).sum()
        };
        let most = settings.max_agents;
        if alive.len() + making(None) >= most {
            let message = format!(
                "the limit of {most} remote agents is reached (remote_agents.max_agents); end one of them first"
            );
            return Err(CreateError::TooMany(message));
        }
        let most = settings.max_agents_per_key;
        if own + making(Some(caller)) >= most {
            let who = match caller.starts_with("key:") {
                true => "this key",
                false => "the owner",
            };
            let message = format!(
                "{who} has reached the limit of {most} remote agents (remote_agents.max_agents_per_key); end one of them first"
            );
            return Err(CreateError::TooMany(message));
        }
        *agents.creating.entry(caller.to_owned()).or_default() += 1;
        drop(agents);
        Ok(Reserved {
            remote: self,
            caller: caller.to_owned(),
        })
    }

    /// Stores that an agent is being created, before anything of it exists.
    async fn store_record(
        &self,
        wanted: &NewAgent,
        project: ProjectConfig,
        token: &str,
        once: Option<(String, String)>,
    ) -> Result<Arc<LiveAgent>, CreateError> {
        let id = AgentId::random();
        let now = event::now();
        let backend = match &wanted.adopted {
            Some(_) => Some("adopted".to_owned()),
            None => project.backend,
        };
        let hours = self.config.token_hours;
        let record = Record {
            tmux: id.session_name(&wanted.project),
            project: wanted.project.clone(),
            folder: project.folder.to_string_lossy().into_owned(),
            persona: wanted.persona.clone(),
            backend: backend.unwrap_or_else(|| "builtin".into()),
            model: project.model,
            mcp_servers: project.mcp_servers,
            session: gangway_core::SessionId::new(),
            caller: wanted.caller.clone(),
            flags: wanted.flags,
            phase: Phase::Creating,
            created_at: now,
            ended_at: None,
            ended_reason: None,
            tokens: Tokens::new(token, hours, now),
            adopted: wanted.adopted.clone(),
            runner: String::new(),
            once,
        };
        record.keep(&self.store, &id).await?;
        let agent = Arc::new(LiveAgent::new(id, record, self.stop.clone()));
        let added = self.live.lock().add_unless_adopted(&agent);
        match added {
            Ok(()) => Ok(agent),
            Err(other) => {
                Record::forget(&self.store, &agent.id).await?;
                Err(CreateError::AlreadyAdopted(other))
            }
        }
    }

    async fn start(&self, agent: &Arc<LiveAgent>) -> Result<(), CreateError> {
        let record = agent.record();
        let checked = self.workspaces.check(record.folder.as_ref());
        let message = match checked {
            Ok(true) => None,
            Ok(false) => Some("the folder of this project is in Gangway's data folder"),
            Err(_) => {
                Some("the project folder does not exist; `gangway project list` shows its path")
            }
        };
        if let Some(message) = message {
            return Err(CreateError::Unavailable(message.into()));
        }
        let program = self.program.clone();
        let program = program
            .ok_or_else(|| CreateError::Failed("cannot find the path of this program".into()))?;
        let runner = new_secret();
        let hashed = hash(&runner);
        self.change(agent, |record| {
            record.runner = hashed;
            Some(())
        })
        .await?;
        self.folders
            .write_ticket(&agent.id, &runner)
            .map_err(|error| CreateError::Failed(format!("the agent's folder: {error}")))?;
        let session = NewSession {
            title: Some(format!("{} · {}", record.project, record.persona)),
            cwd: record.folder.clone(),
            model: record.model.clone(),
            agent: Some(AGENT.to_owned()),
            ephemeral: false,
        };
        self.hub.create(agent.session, session).await?;
        let ticket: OsString = self.folders.ticket(&agent.id).into();
        let command = [program, "agent".into(), "--ticket".into(), ticket];
        self.tmux
            .start(&record.tmux, record.folder.as_ref(), &command)
            .await
            .map_err(|error| CreateError::Unavailable(error.to_string()))
    }

    /// Waits until the agent has its persona and has accepted its first message.
    async fn bring_up(&self, agent: &Arc<LiveAgent>, wanted: &NewAgent) -> Result<(), CreateError> {
        self.wait_for(agent, |seen| seen.ready).await?;
        if !wanted.prompt.is_empty() {
            let session = self.hub.open(agent.session).await?;
            let receipt = session
                .submit(Command::Prompt {
                    prompt: wanted.prompt.clone(),
                    source: Source::Person,
                    shown: true,
                    when_busy: WhenBusy::Queue,
                })
                .await?;
            let Receipt::Accepted { turn } = receipt else {
                return Err(CreateError::Failed("the message was not accepted".into()));
            };
            self.wait_for(agent, |seen| seen.taken == Some(turn))
                .await?;
        }
        self.change(agent, |record| {
            record.phase = Phase::Ready;
            Some(())
        })
        .await?;
        Ok(())
    }

    /// Waits for a status of the runner while its process runs.
    async fn wait_for(
        &self,
        agent: &LiveAgent,
        wanted: impl Fn(&RunnerStatus) -> bool,
    ) -> Result<(), CreateError> {
        let mut status = agent.channel.status();
        let tmux = agent.record().tmux;
        loop {
            let look = async {
                let status = status.wait_for(|status| wanted(status) || status.broken.is_some());
                status.await.map(|status| status.broken.clone())
            };
            match tokio::time::timeout(LOOK, look).await {
                Ok(Ok(None)) => return Ok(()),
                Ok(Ok(Some(message))) => return Err(CreateError::Failed(message)),
                Ok(Err(_)) => return Err(CreateError::Failed("the agent was removed".into())),
                Err(_) => {
                    if let Ok(false) = self.tmux.has(&tmux).await {
                        let text = "the agent's process ended before it was ready";
                        return Err(CreateError::Failed(text.into()));
                    }
                }
            }
        }
    }
}
