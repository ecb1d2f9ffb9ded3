//! An agent in memory: its record, its tokens, the channel to its runner.

use gangway_core::{Result, SessionId, Store};
use jiff::Timestamp;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{AgentId, RunnerChannel, record::Record, tokens::TokenKind};

pub struct LiveAgent {
    pub id: AgentId,
    pub session: SessionId,
    pub channel: RunnerChannel,
    record: Mutex<Record>,
    /// Serializes changes.
    changing: tokio::sync::Mutex<()>,
    /// One upload at a time: names are unique, and one agent cannot take all upload slots.
    pub uploading: tokio::sync::Mutex<()>,
    /// Cancelled when the agent has ended.
    pub ended: CancellationToken,
    /// Signals changed tokens.
    tokens: watch::Sender<()>,
}

impl LiveAgent {
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

    #[must_use]
    pub fn record(&self) -> Record {
        self.lock().clone()
    }

    /// Whether it has ended or is ending.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.lock().is_over()
    }

    /// The kind of this token, if it is one of this agent's.
    #[must_use]
    pub fn knows(&self, token: &str) -> Option<TokenKind> {
        self.lock().tokens.check(token, Timestamp::now())
    }

    /// Returns once this token is revoked or expired.
    pub async fn revoked(&self, token: &str) {
        let mut changes = self.tokens.subscribe();
        while self.knows(token).is_some() {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Changes the record, on disk first, and returns the result of `change`. `None` changes nothing.
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
