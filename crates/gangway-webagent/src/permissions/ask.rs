//! Asking the user, and the user's answers.

use std::{collections::BTreeSet, sync::Arc};

use gangway_core::{Actor, AskDecision, AskError, AskId, GrantDuration, Origin, Reply, ToolName};

use super::{
    Permissions,
    decide::decisions,
    grants::{AnsweredRequest, GrantChangeError, GrantEdit},
    query::{Decision, Outcome, PermissionQuery, TooMany},
    queue::{QueuedRequest, RequestState},
};

/// The user's answer.
#[derive(Debug, Clone)]
pub struct PermissionAnswer {
    /// Once, always or denied.
    pub decision: Decision,
    /// The selected tools; default is all.
    pub tools: Option<Vec<ToolName>>,
    /// How long "always allow" lasts.
    pub duration: GrantDuration,
}

/// Why an answer was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The request is no longer open.
    #[error(
        "this request is no longer open: it was answered, has timed out, or its page was closed"
    )]
    Gone,
    /// A tool that was not offered.
    #[error("{0} is not among the tools of this request")]
    NotOffered(ToolName),
    /// It could not be stored.
    #[error(transparent)]
    NotChanged(#[from] GrantChangeError),
}

/// A page that waits for a request; the last one to leave withdraws it.
struct Waiter<'a>(&'a Permissions, AskId);

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        let Some(asked) = state.queue.get_mut(&self.1) else {
            return;
        };
        asked.waiters -= 1;
        if asked.waiters == 0 {
            state.finish(&self.1, Decision::Unanswered);
            drop(state);
            self.0.asks_changed();
        }
    }
}

impl From<AnswerError> for AskError {
    fn from(error: AnswerError) -> Self {
        let message = error.to_string();
        match error {
            AnswerError::Gone => Self::NotFound,
            AnswerError::NotOffered(_) => Self::invalid(format!("`tools`: {message}")),
            AnswerError::NotChanged(GrantChangeError::Store(error)) => error.into(),
            AnswerError::NotChanged(GrantChangeError::TooManyOrigins) => {
                let code = "too_many_origins";
                Self::Conflict { code, message }
            }
            AnswerError::NotChanged(GrantChangeError::NotAuthenticated(_)) => {
                let code = "origin_not_authenticated";
                Self::Invalid { code, message }
            }
            AnswerError::NotChanged(_) => Self::invalid(message),
        }
    }
}

/// Handles an answer from the list of open requests.
pub(super) async fn take(
    permissions: Option<Arc<Permissions>>,
    id: AskId,
    reply: Reply,
) -> Result<(), AskError> {
    let permissions = permissions.ok_or(AskError::NotFound)?;
    let decision = match reply.decision {
        AskDecision::Once => Decision::Once,
        AskDecision::Always => Decision::Always,
        AskDecision::Deny => Decision::Denied,
        AskDecision::Dismiss => {
            permissions.give_up(&id);
            return Ok(());
        }
    };
    let answer = PermissionAnswer {
        decision,
        tools: reply.tools,
        // The answer may be given casually, so it is not permanent unless the user says so.
        duration: reply.duration.unwrap_or(GrantDuration::Month),
    };
    Ok(permissions.answer(&id, answer, reply.by).await?)
}

impl Permissions {
    /// Asks the user for missing permissions; returns immediately if there are none. `asked` gets the request's id when
    /// it is shown. Dropping the future withdraws the request.
    pub async fn request(
        &self,
        query: PermissionQuery,
        asked: impl FnOnce(&AskId) + Send,
    ) -> Result<Outcome, TooMany> {
        let origin = query.origin.clone();
        let entered = {
            let mut state = self.lock();
            let question = state.question(&query);
            question
                .map(|question| state.queue.enter(query, question))
                .transpose()?
        };
        let decision = match entered {
            None => Decision::NothingToAsk,
            Some((id, stage)) => {
                let waiter = Waiter(self, id);
                self.asks_changed();
                self.wait(&waiter, stage, asked).await
            }
        };
        Ok(Outcome {
            decision,
            standing: self.standing(&origin),
        })
    }

    /// Whether the user would have to be asked.
    #[must_use]
    pub fn would_ask(&self, query: &PermissionQuery) -> bool {
        self.lock().question(query).is_some()
    }

    async fn wait(
        &self,
        Waiter(_, id): &Waiter<'_>,
        mut stage: tokio::sync::watch::Receiver<RequestState>,
        asked: impl FnOnce(&AskId) + Send,
    ) -> Decision {
        let until = self.lock().queue.get(id).map(|asked| asked.until);
        let mut asked = Some(asked);
        let done = async {
            loop {
                let now = *stage.borrow_and_update();
                match now {
                    RequestState::Done(decision) => return decision,
                    RequestState::Shown => {
                        if let Some(asked) = asked.take() {
                            asked(id);
                        }
                    }
                    RequestState::Waiting => {}
                }
                if stage.changed().await.is_err() {
                    return Decision::Unanswered;
                }
            }
        };
        tokio::pin!(done);
        let until = until.unwrap_or_else(tokio::time::Instant::now);
        if let Ok(decision) = tokio::time::timeout_at(until, &mut done).await {
            return decision;
        }
        self.give_up(id);
        // An answer that is being stored still counts.
        done.await
    }

    /// Closes a request without an answer, unless one is being stored.
    fn give_up(&self, id: &AskId) {
        let mut state = self.lock();
        if state.queue.get(id).is_some_and(|asked| !asked.deciding) {
            state.finish(id, Decision::Unanswered);
            drop(state);
            self.asks_changed();
        }
    }

    /// A page of this origin reports that the window of its request was closed. Ignored if the window had loaded: the
    /// page cannot distinguish a closed window from one that it lost sight of.
    pub fn window_closed(&self, origin: &Origin, id: &AskId) {
        let own = |asked: &QueuedRequest| asked.query.origin == *origin;
        let own = self.lock().queue.get(id).is_some_and(own);
        if own && !self.asks.has_window(id) {
            self.give_up(id);
        }
    }

    /// Handles the user's answer; it is stored when this returns. Dropping the future midway leaves the request
    /// undecidable.
    pub async fn answer(
        &self,
        id: &AskId,
        answer: PermissionAnswer,
        by: Actor,
    ) -> Result<(), AnswerError> {
        let (origin, answered) = self.begin_answer(id, answer)?;
        let entries = decisions(&origin, &answered, by);
        let decision = answered.decision;
        let changed = self.change(&origin, GrantEdit::Answered(answered)).await;
        {
            let mut state = self.lock();
            match &changed {
                Ok(()) => state.finish(id, decision),
                Err(_) => {
                    if let Some(asked) = state.queue.get_mut(id) {
                        asked.deciding = false;
                    }
                }
            }
            state.advance(&origin);
        }
        self.asks_changed();
        if changed.is_ok() {
            self.audit.decided(entries).await;
        }
        Ok(changed?)
    }

    fn begin_answer(
        &self,
        id: &AskId,
        answer: PermissionAnswer,
    ) -> Result<(Origin, AnsweredRequest), AnswerError> {
        let mut state = self.lock();
        let now = state.clock.now();
        let asked = state.queue.get_mut(id).ok_or(AnswerError::Gone)?;
        if !asked.is_shown() || asked.deciding {
            return Err(AnswerError::Gone);
        }
        let tools = asked.question.tools.as_ref();
        let shown: BTreeSet<_> = tools
            .into_iter()
            .flatten()
            .map(|t| t.name.clone())
            .collect();
        let checked = match answer.tools {
            Some(checked) => {
                if let Some(strange) = checked.iter().find(|tool| !shown.contains(tool)) {
                    return Err(AnswerError::NotOffered(strange.clone()));
                }
                checked.into_iter().collect()
            }
            None => shown.clone(),
        };
        asked.deciding = true;
        let answered = AnsweredRequest {
            decision: answer.decision,
            scopes: asked.question.scopes.clone(),
            checked: (tools.is_some() && answer.decision != Decision::Denied).then_some(checked),
            shown,
            server: asked
                .question
                .server
                .as_ref()
                .map(|server| server.url.clone()),
            tabs: asked.tabs.clone(),
            end: answer.duration.end(now),
        };
        Ok((asked.query.origin.clone(), answered))
    }

    pub(super) fn asks_changed(&self) {
        self.lock().queue.publish();
    }
}
