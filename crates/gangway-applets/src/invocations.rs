//! Messages of applets to the agent that are in progress, by idempotency key. One continues when its page is gone.

use std::{collections::HashMap, sync::Arc};

use gangway_core::{SessionId, TurnId};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

#[derive(Default)]
pub struct Invocations {
    pending: Mutex<HashMap<(SessionId, String), PendingInvocation>>,
}

#[derive(Debug, Clone)]
pub enum InvocationState {
    /// Undecided.
    Begun,
    /// The user is asked for consent.
    Asked,
    /// Sent; this turn answers it.
    Sent(TurnId),
    /// Not sent: error code and message.
    Refused(String, String),
}

/// A message in progress, for observers.
#[derive(Clone)]
pub struct PendingInvocation {
    pub steps: watch::Receiver<InvocationState>,
    /// Cancels it, if it was not sent yet.
    pub withdrawn: CancellationToken,
}

/// A message in progress, for the task that sends it.
pub struct Invocation {
    pub steps: watch::Sender<InvocationState>,
    /// Cancelled when it must not be sent any more.
    pub withdrawn: CancellationToken,
    all: Arc<Invocations>,
    key: Option<(SessionId, String)>,
}

impl PendingInvocation {
    /// Its final step; `None` if the server stops first.
    pub async fn end(&mut self) -> Option<InvocationState> {
        let over = |step: &InvocationState| {
            matches!(
                step,
                InvocationState::Sent(_) | InvocationState::Refused(..)
            )
        };
        self.steps
            .wait_for(over)
            .await
            .ok()
            .map(|step| step.clone())
    }
}

impl Drop for Invocation {
    fn drop(&mut self) {
        if let Some(key) = self.key.take() {
            self.all.pending.lock().remove(&key);
        }
    }
}

impl Invocations {
    /// Finds the message with this idempotency key, or creates one that the caller must send.
    pub fn begin(
        self: &Arc<Self>,
        session: SessionId,
        key: Option<String>,
    ) -> (PendingInvocation, Option<Invocation>) {
        let key = key.map(|key| (session, key));
        let mut pending = self.pending.lock();
        if let Some(same) = key.as_ref().and_then(|key| pending.get(key)) {
            return (same.clone(), None);
        }
        let (steps, follow) = watch::channel(InvocationState::Begun);
        let withdrawn = CancellationToken::new();
        let new = PendingInvocation {
            steps: follow,
            withdrawn: withdrawn.clone(),
        };
        if let Some(key) = &key {
            pending.insert(key.clone(), new.clone());
        }
        let invocation = Invocation {
            steps,
            withdrawn,
            all: Arc::clone(self),
            key,
        };
        (new, Some(invocation))
    }

    #[must_use]
    pub fn find(&self, session: SessionId, key: &str) -> Option<PendingInvocation> {
        self.pending.lock().get(&(session, key.to_owned())).cloned()
    }
}
