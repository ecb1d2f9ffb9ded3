//! Idempotency keys: a repeated request creates no second agent.

use std::{collections::HashMap, sync::Arc};

use gangway_core::{event, secret::hash};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::{
    CreateError, Created, LiveAgent, NewAgent, Phase, RemoteAgents, create::internal_error,
    new_token,
};

/// Requests whose responses are kept in memory.
const REQUESTS: usize = 1000;

type PendingRequest = Arc<tokio::sync::Mutex<Option<(String, Created)>>>;

/// Requests by idempotency key, with their results.
#[derive(Default)]
pub(super) struct Requests(Mutex<HashMap<String, PendingRequest>>);

impl Requests {
    fn of(&self, name: &str) -> PendingRequest {
        let mut requests = self.0.lock();
        if requests.len() >= REQUESTS {
            // Forget requests that no client waits for; their agents can still be found by key.
            requests.retain(|_, waiting| Arc::strong_count(waiting) > 1);
        }
        Arc::clone(requests.entry(name.to_owned()).or_default())
    }
}

impl RemoteAgents {
    /// Creates an agent and waits until it is ready. A repeated idempotency key returns the same agent.
    pub async fn create(self: &Arc<Self>, wanted: NewAgent) -> Result<Created, CreateError> {
        // Otherwise it could be taken for a leftover of a crash.
        self.recovered.cancelled().await;
        let Some(once) = &wanted.once else {
            return self.create_attended(wanted).await;
        };
        let name = hash(&format!("{}\n{once}", wanted.caller));
        let mark = hash(&format!(
            "{:?}",
            (
                &wanted.project,
                &wanted.persona,
                &wanted.prompt,
                &wanted.flags
            )
        ));
        let mut answer = self.requests.of(&name).lock_owned().await;
        if let Some((before, made)) = &*answer {
            let there = self.get(&made.agent.id).is_some();
            match (*before == mark, there) {
                (false, _) => return Err(CreateError::OtherRequest),
                (true, false) => return Err(CreateError::Over),
                (true, true) if made.agent.is_over() => return Err(CreateError::Over),
                // A token that was rotated meanwhile is not returned again.
                (true, true) if made.agent.knows(&made.token).is_none() => {}
                (true, true) => return Ok(made.clone()),
            }
        }
        if let Some(made) = self.made_before(&name, &mark).await? {
            *answer = Some((mark, made.clone()));
            return Ok(made);
        }
        let remote = Arc::clone(self);
        // A repeated request waits here for the result, even if the first client has disconnected.
        let making = self.tasks.spawn(async move {
            let once = Some((name, mark.clone()));
            let stays = CancellationToken::new();
            let made = remote.create_or_undo(wanted, once, stays).await?;
            *answer = Some((mark, made.clone()));
            Ok(made)
        });
        making.await.unwrap_or_else(|_| Err(internal_error()))
    }

    /// The agent that an earlier request with this key created. Its token is new: only a hash of the old one is
    /// stored.
    async fn made_before(&self, name: &str, mark: &str) -> Result<Option<Created>, CreateError> {
        let named = |agent: &Arc<LiveAgent>| {
            let once = agent.record().once;
            once.is_some_and(|(known, _)| known == name)
        };
        let Some(agent) = self.all().into_iter().find(named) else {
            return Ok(None);
        };
        let record = agent.record();
        if record.once.is_some_and(|(_, known)| known != mark) {
            return Err(CreateError::OtherRequest);
        }
        match record.phase {
            Phase::Ready => {}
            Phase::Ending | Phase::Ended => return Err(CreateError::Over),
            // A leftover of a crash that is being removed.
            Phase::Creating => {
                let message = "an incomplete agent of this request is being removed; try again";
                return Err(CreateError::Unavailable(message.into()));
            }
        }
        let token = new_token();
        let hours = self.config.token_hours;
        self.change(&agent, |record| {
            record.tokens.rotate(&token, hours, event::now());
            Some(())
        })
        .await?;
        Ok(Some(Created { agent, token }))
    }
}
