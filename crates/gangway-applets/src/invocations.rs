//! Messages that pages of applets are about to send to the agent, by idempotency key. One goes on when its page is gone.

use std::{collections::HashMap, sync::Arc};

use gangway_core::{SessionId, TurnId};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Those that are under way.
#[derive(Default)]
pub struct Invocations {
    pending: Mutex<HashMap<(SessionId, String), Pending>>,
}

/// How far an invocation has come.
#[derive(Debug, Clone)]
pub enum Step {
    /// Nothing is decided.
    Begun,
    /// The person is asked for consent.
    Asked,
    /// It was sent, and this turn answers it.
    Sent(TurnId),
    /// It is not sent: a code and a message.
    Refused(String, String),
}

/// An invocation that is under way, for those who wait for it.
#[derive(Clone)]
pub struct Pending {
    /// How far it has come.
    pub steps: watch::Receiver<Step>,
    /// Cancelled when it is no longer to be sent, as long as it was not.
    pub withdrawn: CancellationToken,
}

/// An invocation, for the task that carries it out.
pub struct Invocation {
    /// How far it has come.
    pub steps: watch::Sender<Step>,
    /// Cancelled when it is no longer to be sent.
    pub withdrawn: CancellationToken,
    all: Arc<Invocations>,
    key: Option<(SessionId, String)>,
}

impl Pending {
    /// How it ends; nothing when the server does before.
    pub async fn end(&mut self) -> Option<Step> {
        let over = |step: &Step| matches!(step, Step::Sent(_) | Step::Refused(..));
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
    /// The invocation with this idempotency key, to be carried out by the caller unless it is under way already.
    pub fn begin(
        self: &Arc<Self>,
        session: SessionId,
        key: Option<String>,
    ) -> (Pending, Option<Invocation>) {
        let key = key.map(|key| (session, key));
        let mut pending = self.pending.lock();
        if let Some(same) = key.as_ref().and_then(|key| pending.get(key)) {
            return (same.clone(), None);
        }
        let (steps, follow) = watch::channel(Step::Begun);
        let withdrawn = CancellationToken::new();
        let new = Pending {
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

    /// The invocation with this idempotency key, while it is under way.
    #[must_use]
    pub fn find(&self, session: SessionId, key: &str) -> Option<Pending> {
        self.pending.lock().get(&(session, key.to_owned())).cloned()
    }
}
