//! An agent in memory: its record, its tokens, the channel to its runner.

use gangway_core::{Result, SessionId, Store};
use jiff::Timestamp;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{AgentId, RunnerChannel, record::Record, tokens::TokenKind};

/// An agent in memory.
pub struct LiveAgent {
    /// Its id.
    pub id: AgentId,
    /// Its session.
    pub session: SessionId,
    /// The channel to its runner.
    pub channel: RunnerChannel,
    record: Mutex<Record>,
    /// One change at a time.
    changing: tokio::sync::Mutex<()>,
    /// One upload at a time: no two take the same name, and nobody holds all places for uploads with one agent.
    pub uploading: tokio::sync::Mutex<()>,
    /// Cancelled when it is over.
    pub ended: CancellationToken,
    /// Changes with every change of its tokens.
    tokens: watch::Sender<()>,
}

impl LiveAgent {
    /// An agent as it is kept.
    #[must_use]
    pub fn new(id: AgentId, record: Record, stop: CancellationToken) -> Self {
        let ended = CancellationToken::new();
        if record.phase == super::Phase::Ended {
            ended.cancel();
        }
        Self {
            id,
            session: record.session,
            channel: RunnerChannel::new(stop),
            record: Mutex::new(record),
            changing: tokio::sync::Mutex::default(),
            uploading: tokio::sync::Mutex::default(),
            ended,
            tokens: watch::Sender::default(),
        }
    }

    /// What is kept of it.
    #[must_use]
    pub fn record(&self) -> Record {
        self.lock().clone()
    }

    /// Whether it is over or soon will be.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.lock().is_over()
    }

    /// What this token is, if it is one of this agent.
    #[must_use]
    pub fn knows(&self, token: &str) -> Option<TokenKind> {
        self.lock().tokens.check(token, Timestamp::now())
    }

    /// Comes back once this token is no longer good.
    pub async fn revoked(&self, token: &str) {
        let mut changes = self.tokens.subscribe();
        while self.knows(token).is_some() {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Changes what is kept of it, on the disk first; what `change` gives back comes with it. `None` changes nothing.
    pub async fn change<T>(
        &self,
        store: &Store,
        change: impl FnOnce(&mut Record) -> Option<T>,
    ) -> Result<Option<T>> {
        let _alone = self.changing.lock().await;
        let mut record = self.record();
        let Some(value) = change(&mut record) else {
            return Ok(None);
        };
        record.keep(store, &self.id).await?;
        *self.lock() = record;
        self.tokens.send_replace(());
        Ok(Some(value))
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        self.record.lock()
    }
}
