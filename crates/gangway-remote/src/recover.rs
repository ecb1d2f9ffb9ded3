//! Recovery at startup: agents that kept running, and leftovers of a crash.

use std::{collections::BTreeSet, sync::Arc};

use gangway_core::Command;
use gangway_runner::tmux::TmuxError;

use super::{LiveAgent, Phase, Record, RemoteAgents};

/// Reason for agents whose process has exited.
const GONE: &str = "its process ended";

impl RemoteAgents {
    /// Reconciles records with running processes. Running agents then reconnect by themselves. If tmux does not
    /// respond, nothing is known of them, and this is retried later.
    pub async fn recover(self: &Arc<Self>) {
        // Also when it is cancelled, so that nothing waits forever.
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
                tracing::warn!(%error, "cannot list the tmux sessions of agents");
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
        // Of all current ones: some may have been created meanwhile.
        let agents = self.all().into_iter().filter(|agent| !agent.is_over());
        let known: BTreeSet<String> = agents.map(|agent| agent.record().tmux).collect();
        for orphan in names.iter().filter(|name| !known.contains(*name)) {
            tracing::info!(session = orphan, "ended a tmux session without an agent");
            if let Err(error) = self.tmux.end(orphan).await {
                tracing::warn!(%error, "cannot end a tmux session without an agent");
            }
        }
        for id in self.folders.agents() {
            if self.get(&id).is_none_or(|agent| agent.is_over()) {
                self.folders.remove(&id);
            }
        }
    }

    /// Whether agents of the previous run have not been checked yet.
    pub(super) fn is_unsettled(&self) -> bool {
        self.unsettled
            .try_lock()
            .is_ok_and(|found| !found.is_empty())
    }

    /// Removes everything of an agent whose creation failed.
    pub(super) async fn undo_create(&self, agent: &Arc<LiveAgent>) {
        agent.ended.cancel();
        self.clear(agent, &agent.record().tmux).await;
        // An empty write is a barrier: a session whose creation was interrupted exists once it returns, or never.
        if let Err(error) = self.store.put(Vec::new()).await {
            tracing::warn!(%error, "cannot remove an agent whose creation failed");
            return;
        }
        match self.hub.open(agent.session).await {
            Ok(session) => {
                if let Err(error) = session.submit(Command::Delete).await {
                    tracing::warn!(%error, "cannot remove the session of an agent whose creation failed");
                    return;
                }
            }
            Err(gangway_core::Error::SessionNotFound(_)) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot open the session of an agent whose creation failed");
                return;
            }
        }
        // Last: while the record exists, the next start finishes the work.
        if let Err(error) = Record::forget(&self.store, &agent.id).await {
            tracing::warn!(%error, "cannot remove the record of an agent whose creation failed");
        }
        self.live.lock().remove(&agent.id);
    }

    /// Records the end of an agent whose process has exited.
    pub(super) async fn lost(&self, agent: &Arc<LiveAgent>) {
        // Windows that its process opened may still exist.
        self.clear(agent, &agent.record().tmux).await;
        self.note_end(agent, GONE).await;
    }
}
