//! How an agent comes to be: step by step, each of which is undone when a later one fails.

use std::{ffi::OsString, sync::Arc, time::Duration};

use gangway_core::{
    Command, NewSession, Receipt, Source, WhenBusy, event,
    secret::{hash, new_secret},
};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{
    AGENT, AgentId, Flags, Member, NotMade, Phase, Record, RemoteAgents, Seen, new_token,
    record::AdoptedRecord, tokens::Tokens,
};
use crate::config::{BrainConfig, PersonaConfig, ProjectConfig};

/// Seconds that an agent may take which is fetched by its first start, such as one that `npx` runs.
const FETCHING_SECONDS: u64 = 120;

/// How often it is looked whether a process that is not ready still runs.
const LOOK: Duration = Duration::from_secs(1);

/// What somebody wants.
#[derive(Debug, Clone)]
pub struct Wish {
    /// The project.
    pub project: String,
    /// Who the agent is to be.
    pub persona: String,
    /// What it is told first; nothing when empty, as an adopted agent may be.
    pub prompt: String,
    /// What its chat shows.
    pub flags: Flags,
    /// Who wants it.
    pub caller: String,
    /// A name of the request, under which it takes effect once.
    pub once: Option<String>,
    /// The program that becomes the agent, where it runs already.
    pub adopted: Option<AdoptedRecord>,
}

/// An agent that is ready.
#[derive(Clone)]
pub struct Made {
    /// The agent.
    pub member: Arc<Member>,
    /// Its session token, which is never shown again.
    pub token: String,
}

/// A task that ended without a word.
pub(super) fn broke_down() -> NotMade {
    NotMade::Failed("making the agent broke down".into())
}

/// A place among the agents, given back when it is dropped.
struct Reserved<'a> {
    remote: &'a RemoteAgents,
    caller: String,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let mut members = self.remote.live.lock();
        if let Some(count) = members.creating.get_mut(&self.caller) {
            *count -= 1;
            if *count == 0 {
                members.creating.remove(&self.caller);
            }
        }
    }
}

impl RemoteAgents {
    /// Makes an agent and waits until it is ready, unless whoever wants it leaves: they could never find it again.
    pub(super) async fn make(self: &Arc<Self>, wish: Wish) -> Result<Made, NotMade> {
        let left = CancellationToken::new();
        let _leaving = left.clone().drop_guard();
        let (answer, answered) = oneshot::channel();
        let (take, taken) = oneshot::channel();
        let remote = Arc::clone(self);
        self.tasks.spawn(async move {
            let made = remote.make_and_undo(wish, None, left).await;
            let member = made.as_ref().ok().map(|made| Arc::clone(&made.member));
            let sent = answer.send(made).is_ok();
            // They may leave in the very moment in which it is ready.
            if let Some(member) = member
                && !(sent && taken.await.is_ok())
            {
                remote.unmake(&member).await;
            }
        });
        let made = answered.await.unwrap_or_else(|_| Err(broke_down()));
        let _ = take.send(());
        made
    }

    pub(super) async fn make_and_undo(
        self: &Arc<Self>,
        wish: Wish,
        once: Option<(String, String)>,
        left: CancellationToken,
    ) -> Result<Made, NotMade> {
        let settings = &self.config;
        if !settings.enabled {
            return Err(NotMade::Disabled);
        }
        let project = self.shelf.project(&wish.project).await?;
        let project = project.ok_or_else(|| NotMade::NoProject(wish.project.clone()))?;
        if wish
            .adopted
            .as_ref()
            .is_none_or(|adopted| adopted.has_persona)
        {
            let persona = self.shelf.persona(&wish.persona).await?;
            let persona: Option<PersonaConfig> = persona.filter(|persona| persona.active);
            if persona.is_none() {
                return Err(NotMade::NoPersona(wish.persona));
            }
        }
        if let Err(why) = self.guardrails() {
            tracing::error!(why, "no agent can be made");
            let words = "the guardrails of this server cannot be read; its log says why";
            return Err(NotMade::Unavailable(words.into()));
        }
        let _place = self.reserve(&wish.caller)?;
        let brain = project.brain.as_deref();
        let brain = brain.filter(|_| wish.adopted.is_none());
        let brain = brain.and_then(|name| settings.brains.get(name));
        let seconds = match brain.is_some_and(BrainConfig::fetches_itself) {
            true => settings.creation_timeout_seconds.max(FETCHING_SECONDS),
            false => settings.creation_timeout_seconds,
        };
        let token = new_token();
        let member = self.write_down(&wish, project, &token, once).await?;
        let late = tokio::time::sleep(Duration::from_secs(seconds));
        let made = async {
            // Never cut: a tmux that is killed on its way may leave a session that begins after it was ended.
            self.start(&member).await?;
            tokio::select! {
                made = self.bring_up(&member, &wish) => made,
                () = late => Err(NotMade::TooLate(seconds)),
                () = left.cancelled() => Err(NotMade::Left),
                () = self.stop.cancelled() => Err(NotMade::Unavailable("the server is stopping".into())),
            }
        };
        match made.await {
            Ok(()) => Ok(Made { member, token }),
            Err(error) => {
                self.unmake(&member).await;
                Err(error)
            }
        }
    }

    /// Takes a place among the agents, if there is one.
    fn reserve(&self, caller: &str) -> Result<Reserved<'_>, NotMade> {
        let settings = &self.config;
        let mut members = self.live.lock();
        let alive = members.by_id.values().filter_map(|member| {
            let record = member.record();
            // Those that are being made are counted apart.
            let counts = matches!(record.phase, Phase::Ready | Phase::Ending);
            counts.then_some(record.caller)
        });
        let alive: Vec<String> = alive.collect();
        let own = alive.iter().filter(|one| *one == caller).count();
        let making = |of: Option<&str>| -> usize {
            let counted = members.creating.iter();
            let meant = counted.filter(|(name, _)| of.is_none_or(|of| of == *name));
            meant.map(|(_, count)| *count).sum()
        };
        let most = settings.max_agents;
        if alive.len() + making(None) >= most {
            let words = format!(
                "this server runs at most {most} remote agents (remote_agents.max_agents), and has that many; end one of them first"
            );
            return Err(NotMade::TooMany(words));
        }
        let most = settings.max_agents_per_key;
        if own + making(Some(caller)) >= most {
            let who = match caller.starts_with("key:") {
                true => "this key",
                false => "the owner, who has no key,",
            };
            let words = format!(
                "{who} may have at most {most} remote agents (remote_agents.max_agents_per_key), and has that many; end one of them first"
            );
            return Err(NotMade::TooMany(words));
        }
        *members.creating.entry(caller.to_owned()).or_default() += 1;
        drop(members);
        Ok(Reserved {
            remote: self,
            caller: caller.to_owned(),
        })
    }

    /// Keeps that an agent is being made, before anything of it is there.
    async fn write_down(
        &self,
        wish: &Wish,
        project: ProjectConfig,
        token: &str,
        once: Option<(String, String)>,
    ) -> Result<Arc<Member>, NotMade> {
        let id = AgentId::random();
        let now = event::now();
        let brain = match &wish.adopted {
            Some(_) => Some("adopted".to_owned()),
            None => project.brain,
        };
        let hours = self.config.token_hours;
        let record = Record {
            tmux: id.session_name(&wish.project),
            project: wish.project.clone(),
            folder: project.folder.to_string_lossy().into_owned(),
            persona: wish.persona.clone(),
            brain: brain.unwrap_or_else(|| "builtin".into()),
            model: project.model,
            mcp_servers: project.mcp_servers,
            session: gangway_core::SessionId::new(),
            caller: wish.caller.clone(),
            flags: wish.flags,
            phase: Phase::Creating,
            created_at: now,
            ended_at: None,
            ended_reason: None,
            tokens: Tokens::new(token, hours, now),
            adopted: wish.adopted.clone(),
            runner: String::new(),
            once,
        };
        record.keep(&self.store, &id).await?;
        let member = Arc::new(Member::new(id, record, self.stop.clone()));
        let added = self.live.lock().add_unless_adopted(&member);
        match added {
            Ok(()) => Ok(member),
            Err(other) => {
                Record::forget(&self.store, &member.id).await?;
                Err(NotMade::AlreadyAdopted(other))
            }
        }
    }

    /// Starts the agent's process, with all it needs.
    async fn start(&self, member: &Arc<Member>) -> Result<(), NotMade> {
        let record = member.record();
        let checked = self.workspaces.check(record.folder.as_ref());
        let words = match checked {
            Ok(true) => None,
            Ok(false) => Some("the folder of this project leads to Gangway's own data"),
            Err(_) => {
                Some("the folder of this project is not there; `gangway project list` shows it")
            }
        };
        if let Some(words) = words {
            return Err(NotMade::Unavailable(words.into()));
        }
        let program = self.program.clone();
        let program =
            program.ok_or_else(|| NotMade::Failed("Gangway cannot find itself".into()))?;
        let runner = new_secret();
        let hashed = hash(&runner);
        self.change(member, |record| {
            record.runner = hashed;
            Some(())
        })
        .await?;
        self.place
            .write_ticket(&member.id, &runner)
            .map_err(|error| NotMade::Failed(format!("the agent's folder: {error}")))?;
        let session = NewSession {
            title: Some(format!("{} · {}", record.project, record.persona)),
            cwd: record.folder.clone(),
            model: record.model.clone(),
            agent: Some(AGENT.to_owned()),
            ephemeral: false,
        };
        self.hub.create(member.session, session).await?;
        let ticket: OsString = self.place.ticket(&member.id).into();
        let command = [program, "agent".into(), "--ticket".into(), ticket];
        self.tmux
            .start(&record.tmux, record.folder.as_ref(), &command)
            .await
            .map_err(|error| NotMade::Unavailable(error.to_string()))
    }

    /// Waits until the agent has its persona and has taken its first message.
    async fn bring_up(&self, member: &Arc<Member>, wish: &Wish) -> Result<(), NotMade> {
        self.wait_for(member, |seen| seen.ready).await?;
        if !wish.prompt.is_empty() {
            let session = self.hub.open(member.session).await?;
            let receipt = session
                .submit(Command::Prompt {
                    prompt: wish.prompt.clone(),
                    source: Source::Person,
                    shown: true,
                    when_busy: WhenBusy::Queue,
                })
                .await?;
            let Receipt::Accepted { turn } = receipt else {
                return Err(NotMade::Failed("the message was not accepted".into()));
            };
            self.wait_for(member, |seen| seen.taken == Some(turn))
                .await?;
        }
        self.change(member, |record| {
            record.phase = Phase::Ready;
            Some(())
        })
        .await?;
        Ok(())
    }

    /// Waits for something to be seen of a runner, as long as it runs.
    async fn wait_for(
        &self,
        member: &Member,
        wanted: impl Fn(&Seen) -> bool,
    ) -> Result<(), NotMade> {
        let mut seen = member.line.seen();
        let tmux = member.record().tmux;
        loop {
            let look = async {
                let seen = seen.wait_for(|seen| wanted(seen) || seen.broken.is_some());
                seen.await.map(|seen| seen.broken.clone())
            };
            match tokio::time::timeout(LOOK, look).await {
                Ok(Ok(None)) => return Ok(()),
                Ok(Ok(Some(message))) => return Err(NotMade::Failed(message)),
                Ok(Err(_)) => return Err(NotMade::Failed("the agent is gone".into())),
                Err(_) => {
                    if let Ok(false) = self.tmux.has(&tmux).await {
                        let words = "the agent's process ended before it was ready";
                        return Err(NotMade::Failed(words.into()));
                    }
                }
            }
        }
    }
}
