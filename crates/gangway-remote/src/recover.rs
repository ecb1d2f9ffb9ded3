//! What is found when the server starts: agents that went on without it, and what a crash left behind.

use std::{collections::BTreeSet, sync::Arc};

use gangway_core::Command;
use gangway_runner::tmux::TmuxError;

use super::{Member, Phase, Record, RemoteAgents};

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
        if found.is_empty() && !self.place.tmux().exists() {
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
        for member in found.iter() {
            let Record { phase, tmux, .. } = member.record();
            match phase {
                Phase::Creating => self.unmake(member).await,
                Phase::Ending => self.finish_end(member).await,
                Phase::Ready if !running.contains(&tmux) => self.lost(member).await,
                Phase::Ready | Phase::Ended => {}
            }
        }
        found.clear();
        // Of all there are by now: some may have been made meanwhile.
        let members = self.all().into_iter().filter(|member| !member.is_over());
        let known: BTreeSet<String> = members.map(|member| member.record().tmux).collect();
        for orphan in names.iter().filter(|name| !known.contains(*name)) {
            tracing::info!(session = orphan, "ended a tmux session that no agent has");
            if let Err(error) = self.tmux.end(orphan).await {
                tracing::warn!(%error, "an orphan could not be ended");
            }
        }
        for id in self.place.agents() {
            if self.get(&id).is_none_or(|member| member.is_over()) {
                self.place.remove(&id);
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
    pub(super) async fn unmake(&self, member: &Arc<Member>) {
        member.ended.cancel();
        self.clear(member, &member.record().tmux).await;
        // An empty write: a session whose making was cut off is there once it returns, or never.
        if let Err(error) = self.store.put(Vec::new()).await {
            tracing::warn!(%error, "an agent that did not come to be could not be removed");
            return;
        }
        match self.hub.open(member.session).await {
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
        if let Err(error) = Record::forget(&self.store, &member.id).await {
            tracing::warn!(%error, "an agent that did not come to be could not be forgotten");
        }
        self.live.lock().remove(&member.id);
    }

    /// Notes the end of an agent whose process is gone.
    pub(super) async fn lost(&self, member: &Arc<Member>) {
        // Windows that its process opened may still be there.
        self.clear(member, &member.record().tmux).await;
        self.note_end(member, GONE).await;
    }
}
