//! The current state of a server, and waiting until it is ready.

use std::sync::Arc;

use jiff::Timestamp;

use crate::{
    listing::Listing,
    live::LiveServer,
    server::Server,
    status::{State, Status},
};

#[derive(Clone)]
pub(crate) struct CurrentStatus {
    pub(crate) state: State,
    pub(crate) since: Timestamp,
    pub(crate) live: Option<Arc<LiveServer>>,
    /// Failed attempts to connect.
    pub(crate) failed_attempts: u64,
    /// Its tools when it was last ready.
    pub(crate) listing: Arc<Listing>,
}

impl CurrentStatus {
    /// The connection, unless it just broke.
    fn usable(&self) -> Option<Arc<LiveServer>> {
        let live = self.live.as_ref();
        live.filter(|live| !live.gone.is_cancelled()).cloned()
    }
}

impl Server {
    pub(crate) fn status(&self) -> Status {
        let now = self.now.borrow();
        let live = now.live.as_ref();
        Status {
            id: self.spec.id.clone(),
            state: now.state.clone(),
            since: now.since,
            protocol: live.and_then(|live| live.protocol.clone()),
            server: live.and_then(|live| live.described.clone()),
            instructions: live.and_then(|live| live.instructions.clone()),
            tools: live.map_or(0, |live| live.listing().tools.len()),
            process: live.and_then(|live| live.process),
            logged_in: live.is_some_and(|live| live.logged_in),
            wants_more: live.is_some_and(|live| live.refused().is_some()),
        }
    }

    pub(crate) fn live(&self) -> Option<Arc<LiveServer>> {
        self.now.borrow().live.clone()
    }

    /// Its tools. A remote server that is unreachable keeps them: a call reconnects.
    pub(crate) fn listing(&self) -> Option<Arc<Listing>> {
        let now = self.now.borrow();
        match (&now.live, &now.state) {
            (Some(live), _) => Some(live.listing()),
            (None, State::Starting { .. } | State::Failed { .. }) if self.spec.is_remote() => {
                Some(Arc::clone(&now.listing))
            }
            _ => None,
        }
    }

    /// Waits for the connection, or returns why there is none. Reconnects to an unreachable remote server at once.
    pub(crate) async fn ready(&self) -> Result<Arc<LiveServer>, String> {
        let mut changes = self.now.subscribe();
        let before = {
            let now = changes.borrow();
            if let Some(live) = now.usable() {
                return Ok(live);
            }
            now.failed_attempts
        };
        let remote = self.spec.is_remote();
        if remote {
            self.retry.notify_one();
        }
        let settled = changes
            .wait_for(|now| match &now.state {
                State::Ready => now.usable().is_some(),
                State::Starting { .. } | State::Failed { .. } if remote => {
                    now.failed_attempts != before
                }
                State::Starting { .. } => false,
                _ => true,
            })
            .await
            .map(|now| now.clone())
            .map_err(|_| format!("{} was removed", self.spec.id))?;
        let id = &self.spec.id;
        match (settled.usable(), settled.state) {
            (Some(live), _) => Ok(live),
            (None, State::Failed { reason, .. })
            | (
                None,
                State::Starting {
                    reason: Some(reason),
                    ..
                },
            ) => Err(format!("{id} is not running: {reason}")),
            (None, State::Unauthorized) => Err(format!("{id} needs a login")),
            (None, _) => Err(format!("{id} is stopped")),
        }
    }
}
