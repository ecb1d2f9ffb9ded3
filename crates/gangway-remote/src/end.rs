//! Ending agents.

use std::{sync::Arc, time::Duration};

use gangway_core::{Command, Result, event};
use gangway_runner::wire::ToRunner;

use super::{LiveAgent, Phase, RemoteAgents};

/// How long a runner may take to exit by itself.
const GRACE: Duration = Duration::from_secs(5);

/// Polling interval.
const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndOutcome {
    Now,
    /// It had already ended.
    Before,
}

impl RemoteAgents {
    /// Ends an agent: its turn is stopped and its process terminated. Returns once this is stored and certain to
    /// happen.
    pub async fn end(
        self: &Arc<Self>,
        agent: &Arc<LiveAgent>,
        because: &str,
    ) -> Result<EndOutcome> {
        let begun = self
            .change(agent, |record| {
                if record.is_over() {
                    return None;
                }
                record.phase = Phase::Ending;
                record.ended_reason = Some(because.to_owned());
                record.ended_at = Some(event::now());
                Some(())
            })
            .await?;
        if begun.is_none() {
            return Ok(EndOutcome::Before);
        }
        let (remote, agent) = (Arc::clone(self), Arc::clone(agent));
        self.tasks
            .spawn(async move { remote.finish_end(&agent).await });
        Ok(EndOutcome::Now)
    }

    /// The steps of ending an agent; continues where an earlier attempt stopped.
    pub(super) async fn finish_end(&self, agent: &Arc<LiveAgent>) {
        if let Ok(session) = self.hub.open(agent.session).await
            && let Err(error) = session.submit(Command::Stop).await
        {
            tracing::warn!(%error, "cannot stop the turn of an agent that ends");
        }
        let tmux = agent.record().tmux;
        if agent.channel.send(ToRunner::End) {
            let gone = async {
                while self.tmux.has(&tmux).await.unwrap_or(false) {
                    tokio::time::sleep(LOOK).await;
                }
            };
            let _ = tokio::time::timeout(GRACE, gone).await;
        }
        self.clear(agent, &tmux).await;
        self.note_end(agent, "it was ended").await;
    }

    /// Records the end of an agent whose process has exited.
    pub(super) async fn note_end(&self, agent: &LiveAgent, because: &str) {
        let noted = self
            .change(agent, |record| {
                record.phase = Phase::Ended;
                record.ended_at.get_or_insert_with(event::now);
                record
                    .ended_reason
                    .get_or_insert_with(|| because.to_owned());
                Some(())
            })
            .await;
        if let Err(error) = noted {
            tracing::error!(%error, "cannot store the end of an agent");
        }
        agent.ended.cancel();
    }

    /// Removes the process and the files of an agent.
    pub(super) async fn clear(&self, agent: &LiveAgent, tmux: &str) {
        if let Err(error) = self.tmux.end(tmux).await {
            tracing::warn!(%error, "cannot end the tmux session of an agent");
        }
        self.folders.remove(&agent.id);
    }
}
