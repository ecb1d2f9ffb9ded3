//! What is found when the server starts: agents that went on without it, and what a crash left behind.

use std::{collections::BTreeSet, sync::Arc};

use gangway_core::Command;

use super::{Member, Phase, Record, RemoteAgents};
use crate::server::App;

/// Why an agent ended that was not there any more.
const GONE: &str = "its process ended";

impl RemoteAgents {
    /// Brings what is kept and what runs into agreement. Agents that live come back by themselves after it.
    pub async fn adopt(self: &Arc<Self>, app: &Arc<App>) {
        // Also when it is cut short: who waits for it must not wait for ever.
        let _done = self.adopted.clone().drop_guard();
        let members = self.all();
        if members.is_empty() && !self.place.tmux().exists() {
            return;
        }
        let names: BTreeSet<String> = match self.tmux.names().await {
            Ok(names) => names.into_iter().collect(),
            Err(error) => {
                // Without tmux nothing can be said of them: they are looked at again later.
                tracing::warn!(%error, "agents cannot be looked at");
                return;
            }
        };
        let running = self.tmux.running().await.unwrap_or_default();
        let mut known = BTreeSet::new();
        for member in members {
            let Record { phase, tmux, .. } = member.record();
            match phase {
                Phase::Creating => self.unmake(app, &member).await,
                Phase::Ending => self.finish_end(app, &member).await,
                Phase::Ready if running.contains(&tmux) => {
                    known.insert(tmux);
                }
                Phase::Ready => self.lost(&member).await,
                Phase::Ended => {}
            }
        }
        for orphan in names.difference(&known) {
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

    /// Leaves nothing of an agent that did not come to be.
    pub(super) async fn unmake(&self, app: &Arc<App>, member: &Arc<Member>) {
        member.ended.cancel();
        self.clear(member, &member.record().tmux).await;
        match app.hub.open(member.session).await {
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
        self.members().remove(&member.id);
    }

    /// Notes the end of an agent whose process is gone.
    pub(super) async fn lost(&self, member: &Arc<Member>) {
        // Windows that its process opened may still be there.
        self.clear(member, &member.record().tmux).await;
        self.note_end(member, GONE).await;
    }
}
