//! What is found when the server starts: agents that went on without it, and what a crash left behind.

use std::{collections::BTreeSet, sync::Arc};

use gangway_core::Command;
use gangway_runner::tmux::TmuxError;

use super::{LiveAgent, Phase, Record, RemoteAgents};

/// Why an agent ended that was not there any more.
const GONE: &str = "its process ended";

impl RemoteAgents {
    /// Brings what is kept and what runs into agreement. Agents that live come back by themselves after it. Where tmux does
    /// not answer nothing can be said of them, and it is tried again later.
    pub async fn recover(self: &Arc<Self>) {
        // Also when it is cut short: who waits for it must not wait for ever.
        let _done = self.recovered.clone().drop_guard();
        let Ok(mut found) = self.unsettled.try_lock() else {
            return;
        };
        if found.is_empty() && !self.folders.tmux().exists() {
            return;
        }
        let seen = async { Ok((self.tmux.names().await?, self.tmux.running().await?)) };
        let (names, running) = match seen.await {
            Ok(seen) => seen,
            Err(error) => {
                let error: TmuxError = error;
                tracing::warn!(%error, "agents cannot be looked at");
                return;
            }
        };
        for agent in found.iter() {
            let Record { phase, tmux, .. } = agent.record();
            match phase {
                Phase::Creating => self.undo_create(agent).await,
                Phase::Ending => self.finish_end(agent).await,
                Phase::Ready if !running.contains(&tmux) => self.lost(agent).await,
                Phase::Ready | Phase::Ended => {}
            }
        }
        found.clear();
        // Of all there are by now: some may have been made meanwhile.
        let agents = self.all().into_iter().filter(|agent| !agent.is_over());
        let known: BTreeSet<String> = agents.map(|agent| agent.record().tmux).collect();
        for orphan in names.iter().filter(|name| !known.contains(*name)) {
            tracing::info!(session = orphan, "ended a tmux session that no agent has");
            if let Err(error) = self.tmux.end(orphan).await {
                tracing::warn!(%error, "an orphan could not be ended");
            }
        }
        for id in self.folders.agents() {
            if self.get(&id).is_none_or(|agent| agent.is_over()) {
                self.folders.remove(&id);
            }
        }
    }

    /// Whether there are agents of before that could not be looked at yet.
    pub(super) fn is_unsettled(&self) -> bool {
        self.unsettled
            .try_lock()
            .is_ok_and(|found| !found.is_empty())
    }

    /// Leaves nothing of an agent that did not come to be.
    pub(super) async fn undo_create(&self, agent: &Arc<LiveAgent>) {
        agent.ended.cancel();
        self.clear(agent, &agent.record().tmux).await;
        // An empty write: a session whose making was cut off is there once it returns, or never.
        if let Err(error) = self.store.put(Vec::new()).await {
            tracing::warn!(%error, "an agent that did not come to be could not be removed");
            return;
        }
        match self.hub.open(agent.session).await {
            Ok(session) => {
                if let Err(error) = session.submit(Command::Delete).await {
                    tracing::warn!(%error, "the session of an agent that did not come to be could not be removed");
                    return;
                }
            }
            Err(gangway_core::Error::SessionNotFound(_)) => {}
            Err(error) => {
                tracing::warn!(%error, "the session of an agent that did not come to be could not be opened");
                return;
            }
        }
        // Last: as long as it is kept, the next start finishes the work.
        if let Err(error) = Record::forget(&self.store, &agent.id).await {
            tracing::warn!(%error, "an agent that did not come to be could not be forgotten");
        }
        self.live.lock().remove(&agent.id);
    }

    /// Notes the end of an agent whose process is gone.
    pub(super) async fn lost(&self, agent: &Arc<LiveAgent>) {
        // Windows that its process opened may still be there.
        self.clear(agent, &agent.record().tmux).await;
        self.note_end(agent, GONE).await;
    }
}
