//! The begin and end of turns.

use std::sync::Arc;

use tokio::task::JoinHandle;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{Running, TurnResult, Worker};
use crate::{
    agent::AgentError,
    draft::SharedDraft,
    error::Result,
    event::{self, Citation, Event, Outcome, Source, Usage},
    hub,
    id::QuestionId,
    recovery::{self, QueuedMessage, Unfinished},
    store::{self, Expect, Put},
    turn::Turn,
};

/// How a turn ended.
struct TurnEnd {
    outcome: Outcome,
    usage: Option<Usage>,
    citations: Vec<Citation>,
}

impl TurnEnd {
    fn by(outcome: Outcome) -> Self {
        Self {
            outcome,
            usage: None,
            citations: Vec::new(),
        }
    }
}

impl Worker {
    /// Begins the next turn if none is running and one is queued.
    pub(super) async fn start_next(&mut self) -> Result<()> {
        if self.running.is_none()
            && let Some(next) = self.queue.pop_front()
        {
            let (agent, model) = (self.profile.agent.clone(), self.profile.model.clone());
            let started = Event::TurnStarted {
                turn: next.turn,
                agent: agent.clone(),
                model,
            };
            let started = self.append_of(vec![started], Vec::new(), None);
            let started = self.store.begin_append(started).await?;
            // What the agent says is written after it, so that the agent need not wait for it.
            self.begin(next, &agent, SharedDraft::default(), Vec::new());
            started.await?;
        }
        self.publish_status();
        Ok(())
    }

    /// Passes a message to its agent.
    fn begin(
        &mut self,
        message: QueuedMessage,
        agent: &str,
        draft: SharedDraft,
        asked_before: Vec<(QuestionId, Option<String>)>,
    ) {
        let cancel = CancellationToken::new();
        let turn = Turn {
            session: self.id,
            number: message.turn,
            prompt: message.prompt,
            source: message.source.clone(),
            profile: self.profile.clone(),
            store: self.store.clone(),
            log: Arc::clone(&self.log),
            draft: draft.clone(),
            asked_before,
        };
        let agent = self.agents.get(agent).cloned();
        let survives = agent.as_ref().is_ok_and(|agent| agent.survives());
        let resumes_questions = agent.as_ref().is_ok_and(|agent| agent.resumes_questions());
        let cancelled = cancel.clone();
        let task = AbortOnDropHandle::new(tokio::spawn(async move {
            let agent = match agent {
                Ok(agent) => agent,
                Err(error) => {
                    return Some(Err(AgentError {
                        code: "agent_not_found".into(),
                        message: error.to_string(),
                        retryable: false,
                    }));
                }
            };
            cancelled.run_until_cancelled(agent.run(turn)).await
        }));
        self.running = Some(Running {
            turn: message.turn,
            source: message.source,
            cancel,
            task,
            draft,
            survives,
            resumes_questions,
        });
    }

    /// Leaves the running turn open for the next process, if its agent can resume it.
    pub(super) async fn leave_running(&mut self) -> bool {
        let stays_open = |running: &mut Running| {
            running.survives || (running.resumes_questions && running.draft.is_asking())
        };
        let Some(running) = self.running.take_if(stays_open) else {
            return false;
        };
        halt(running).await;
        true
    }

    /// Ends the running turn, if there is one, with this outcome.
    pub(super) async fn cancel(&mut self, outcome: Outcome) -> Result<()> {
        let Some(running) = self.running.take() else {
            return Ok(());
        };
        let turn = running.turn;
        halt(running).await;
        self.close_turn(turn, outcome, None).await
    }

    /// Stores the result of an agent that returned.
    pub(super) async fn end_turn(&mut self, ran: Option<TurnResult>) -> Result<()> {
        let Some(running) = self.running.take() else {
            return Ok(());
        };
        match ran {
            Some(Ok(usage)) => {
                let commit = match running.draft.close(running.turn, false) {
                    Some(message) => Some(self.append(vec![message], Vec::new()).await?.commit),
                    None => running.draft.last_commit(),
                };
                if let Some(commit) = commit {
                    // Readers of the turn's end may rely on the message being on disk.
                    self.store.keep(commit).await?;
                }
                let ended = TurnEnd {
                    outcome: Outcome::Completed,
                    usage,
                    citations: std::mem::take(&mut running.draft.lock().citations),
                };
                self.write_ends(&[running.turn], ended, Vec::new()).await
            }
            Some(Err(AgentError {
                code,
                message,
                retryable,
            })) => {
                let failed = Event::Failed {
                    turn: running.turn,
                    code,
                    message,
                    retryable,
                };
                self.close_turn(running.turn, Outcome::Failed, Some(failed))
                    .await
            }
            None => {
                let message =
                    "Internal error: the agent panicked. Gangway's log has the details.".into();
                let failed = Event::Failed {
                    turn: running.turn,
                    code: "agent_crashed".into(),
                    message,
                    retryable: true,
                };
                self.close_turn(running.turn, Outcome::Failed, Some(failed))
                    .await
            }
        }
    }

    /// Ends a turn whose agent may have been cancelled between storing an event and recording it.
    async fn close_turn(
        &mut self,
        turn: u64,
        outcome: Outcome,
        failed: Option<Event>,
    ) -> Result<()> {
        let events = self.left_behind().await?.into_iter().chain(failed);
        self.write_ends(&[turn], TurnEnd::by(outcome), events.collect())
            .await
    }

    /// The agent's incomplete message, as logged.
    async fn left_behind(&self) -> Result<Option<Event>> {
        // An empty write: the agent's pending events are in the log once it returns.
        self.store.put(Vec::new()).await?;
        let left = recovery::unfinished(&self.store, self.id, self.settled).await?;
        Ok(left.running.and_then(|message| message.draft))
    }

    /// Ends the selected turns, running or queued, atomically; returns whether one was running, and the number of
    /// queued ones.
    pub(super) async fn stop(
        &mut self,
        target: impl Fn(u64, &Source) -> bool,
    ) -> Result<(bool, usize)> {
        let mut dropped = Vec::new();
        self.queue.retain(|waiting| {
            let stays = !target(waiting.turn, &waiting.source);
            if !stays {
                dropped.push(waiting.turn);
            }
            stays
        });
        let mut turns = Vec::new();
        let mut events = Vec::new();
        let running = self
            .running
            .take_if(|running| target(running.turn, &running.source));
        let ran = running.is_some();
        if let Some(running) = running {
            turns.push(running.turn);
            halt(running).await;
            events.extend(self.left_behind().await?);
        }
        turns.extend(&dropped);
        if !turns.is_empty() {
            let ended = TurnEnd::by(Outcome::Stopped);
            self.write_ends(&turns, ended, events).await?;
        }
        Ok((ran, dropped.len()))
    }

    /// Logs the end of turns, with the events before it, atomically.
    async fn write_ends(
        &mut self,
        turns: &[u64],
        ended: TurnEnd,
        mut events: Vec<Event>,
    ) -> Result<()> {
        let idle = self.queue.is_empty() && self.running.is_none();
        self.profile.updated_at = event::now();
        let mut records = vec![store::record(hub::profile_key(self.id), &self.profile)?];
        if idle {
            records.push(Put::remove(hub::busy_key(self.id), Expect::Any));
        }
        for (n, turn) in turns.iter().enumerate() {
            events.push(Event::TurnEnded {
                turn: *turn,
                outcome: ended.outcome,
                usage: ended.usage,
                idle: idle && n + 1 == turns.len(),
                citations: ended.citations.clone(),
            });
        }
        let written = self.append(events, records).await?;
        if idle {
            self.settled = written.last;
        }
        self.store.keep(written.commit).await?;
        if self.running.is_some() {
            // It may precede a dropped message, and is incomplete.
            return Ok(());
        }
        // The last turn can still be replayed token by token; earlier ones are complete messages by now.
        self.compact(turns.first().copied().unwrap_or(0)).await
    }

    pub(super) async fn recover(&mut self) -> Result<()> {
        let Some(settled) = self.store.get::<u64>(&hub::busy_key(self.id)).await? else {
            return Ok(());
        };
        self.settled = settled.value;
        // The deltas of interrupted turns can still be dropped.
        self.compacted = settled.value;
        let Unfinished { running, waiting } =
            recovery::unfinished(&self.store, self.id, self.settled).await?;
        self.queue = waiting;
        let Some(text) = running else {
            return Ok(());
        };
        let is_asking = text
            .questions
            .last()
            .is_some_and(|(_, answer)| answer.is_none());
        if self
            .agents
            .get(&text.agent)
            .is_ok_and(|agent| agent.survives() || (is_asking && agent.resumes_questions()))
        {
            let draft = SharedDraft::resumed(&text);
            self.begin(text.message, &text.agent, draft, text.questions);
            return Ok(());
        }
        let left = text.draft.into_iter().collect();
        self.write_ends(
            &[text.message.turn],
            TurnEnd::by(Outcome::Interrupted),
            left,
        )
        .await
    }
}

/// Waits for the running turn; without one it never returns. `None` means that the agent panicked or was cancelled.
pub(super) async fn finished(running: &mut Option<Running>) -> Option<TurnResult> {
    match running {
        Some(running) => (&mut running.task).await.ok().flatten(),
        None => std::future::pending().await,
    }
}

/// Cancels a turn and waits until its agent has stopped.
pub(super) async fn halt(running: Running) {
    running.cancel.cancel();
    let task: JoinHandle<_> = running.task.detach();
    let abort = task.abort_handle();
    // An agent that does not yield even when aborted is abandoned after a while.
    let timeout = std::time::Duration::from_secs(1);
    tokio::pin!(task);
    if tokio::time::timeout(timeout, &mut task).await.is_err() {
        abort.abort();
        if tokio::time::timeout(timeout * 5, task).await.is_err() {
            tracing::error!("an agent did not end when it was stopped");
        }
    }
}
