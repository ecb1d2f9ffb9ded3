//! Supervises agents while the server runs: notices lost processes, ends idle agents, removes records of those long
//! ended.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use gangway_core::conversation::Conversation;
use jiff::{SignedDuration, Timestamp};

use super::{AgentState, LiveAgent, Phase, Record, RemoteAgents, asked_at, record::KEPT_AFTER_END};

/// How often processes are checked.
const LOOK: Duration = Duration::from_secs(5);

/// Checks between two sweeps.
const SWEEP: u32 = 12;

/// How long a runner may take to reconnect before its process is checked.
const BREATH: Duration = Duration::from_millis(300);

/// Number of events from which the state is derived.
const EVENTS: usize = 400;

impl RemoteAgents {
    /// Runs until the server stops.
    pub async fn supervise(self: Arc<Self>) {
        let mut looks = 0_u32;
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = self.stop.cancelled() => return,
            }
            if self.is_unsettled() {
                self.recover().await;
            }
            self.find_lost().await;
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(SWEEP) {
                self.sweep(Timestamp::now()).await;
            }
        }
    }

    /// Records the end of agents whose tmux session has ended.
    pub async fn find_lost(&self) {
        let alive: Vec<_> = self.all().into_iter().filter(is_ready).collect();
        if alive.is_empty() {
            return;
        }
        let Ok(names) = self.tmux.running().await else {
            return;
        };
        for agent in alive {
            if is_ready(&agent) && !names.contains(&agent.record().tmux) {
                self.lost(&agent).await;
            }
        }
    }

    /// The same for an agent that just disconnected.
    pub(super) async fn missed(&self, agent: &Arc<LiveAgent>) {
        tokio::time::sleep(BREATH).await;
        if !agent.channel.status().borrow().attached && is_ready(agent) {
            self.find_lost().await;
        }
    }

    /// Ends idle agents, and removes records of those long ended.
    pub async fn sweep(self: &Arc<Self>, now: Timestamp) {
        let minutes = self.config.idle_minutes;
        let idle = SignedDuration::from_mins(i64::try_from(minutes).unwrap_or(i64::MAX / 120));
        for agent in self.all() {
            let record = agent.record();
            if record.phase == Phase::Ended {
                let over = record.ended_at.is_none_or(|at| at + KEPT_AFTER_END < now);
                if over && Record::forget(&self.store, &agent.id).await.is_ok() {
                    self.live.lock().remove(&agent.id);
                }
                continue;
            }
            if record.phase != Phase::Ready {
                continue;
            }
            let because = match self.quiet_since(&agent).await {
                Ok(Some(since)) if minutes > 0 && since < now - idle => {
                    format!("it was idle for {minutes} minutes")
                }
                Ok(_) => continue,
                Err(gangway_core::Error::SessionNotFound(_)) => {
                    "its session was deleted".to_owned()
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot check an agent");
                    continue;
                }
            };
            if let Err(error) = self.end(&agent, &because).await {
                tracing::warn!(%error, "cannot end an idle agent");
            }
        }
    }

    /// Since when an agent is idle; `None` while it works.
    async fn quiet_since(&self, agent: &LiveAgent) -> gangway_core::Result<Option<Timestamp>> {
        let (profile, running) = self.hub.describe(agent.session).await?;
        if !running {
            return Ok(Some(profile.updated_at));
        }
        Ok(asked_at(&self.conversation(agent).await?))
    }

    /// Number of agents by state.
    pub async fn count(&self) -> BTreeMap<&'static str, usize> {
        let states = AgentState::ALL.map(AgentState::as_str);
        let all = states.into_iter().chain(["creating", "ended"]);
        let mut counts: BTreeMap<_, _> = all.map(|state| (state, 0)).collect();
        for agent in self.all() {
            let state = match agent.record().phase {
                Phase::Creating => "creating",
                Phase::Ending | Phase::Ended => "ended",
                Phase::Ready => match self.conversation(&agent).await {
                    Ok(conversation) => AgentState::of(&conversation).as_str(),
                    Err(_) => continue,
                },
            };
            *counts.entry(state).or_default() += 1;
        }
        counts
    }

    /// The newest part of an agent's conversation.
    pub async fn conversation(&self, agent: &LiveAgent) -> gangway_core::Result<Conversation> {
        let tail = self.store.tail(agent.session, None, EVENTS).await?;
        Ok(Conversation::fold(&tail))
    }
}

fn is_ready(agent: &Arc<LiveAgent>) -> bool {
    agent.record().phase == Phase::Ready
}
