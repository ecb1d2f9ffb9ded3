//! Study sessions: a log of what a participant and an agent did with a page.

mod csv;
mod log;
mod read;
mod summary;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use gangway_core::{
    Error, Result,
    store::{Expect, Put, Store, record},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

pub use csv::write_csv;
pub use log::{Direction, LogEntry, StudyLog};
pub use read::{Lines, LogError, MOST_EVENTS, StudyEvent, StudyEvents};
pub use summary::{StudyBy, StudyStage, StudySummary, is_step_of_person};

use super::{RelayName, StudyId};
use gangway_files::make_private_folder;

/// Maximum number of listed study sessions.
const MOST: usize = 10_000;

/// Metadata of a study session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StudyRecord {
    pub relay_session: String,
    pub study_id: Option<String>,
    pub participant_id: Option<String>,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub reason: Option<String>,
    /// Number of events when it ended.
    #[serde(default)]
    pub events: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct StudyEntry {
    pub session_id: String,
    pub study_id: Option<String>,
    pub participant_id: Option<String>,
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Timestamp,
    #[ts(type = "string | null")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
    /// Why it ended.
    pub reason: Option<String>,
    pub relay_session: String,
    /// Number of events; null for an open one without members.
    #[ts(type = "number | null")]
    pub events: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
pub struct StudyList {
    /// Newest first.
    pub sessions: Vec<StudyEntry>,
}

pub struct Studies {
    store: Store,
    folder: PathBuf,
}

fn key(id: &StudyId) -> String {
    format!("study/{id}")
}

fn failed(error: &std::io::Error) -> Error {
    Error::Storage(format!("a study log: {error}"))
}

impl Studies {
    #[must_use]
    pub fn new(data: &Path, store: Store) -> Self {
        Self {
            store,
            folder: data.join("logs").join("study"),
        }
    }

    /// Starts a study session with the next id of the day; its log exists when this returns.
    pub async fn begin(
        &self,
        relay: &RelayName,
        study_id: Option<String>,
        participant_id: Option<String>,
    ) -> Result<Arc<StudyLog>> {
        let now = gangway_core::event::now();
        let day = now.strftime("%Y%m%d").to_string();
        let record = StudyRecord {
            relay_session: relay.to_string(),
            study_id,
            participant_id,
            started_at: now,
            ended_at: None,
            reason: None,
            events: None,
        };
        let prefix = format!("study/s-{day}-");
        let keys = self.store.keys(&prefix, MOST).await?;
        let ids = keys
            .iter()
            .filter_map(|key| key.strip_prefix("study/")?.parse().ok());
        let mut next = ids.map(|id: StudyId| id.number()).max().unwrap_or(0) + 1;
        loop {
            let id = StudyId::nth(&day, next);
            let put = Put::new(key(&id), &record, Expect::Absent)?;
            match self.store.put(vec![put]).await {
                Ok(commit) => {
                    self.store.keep(commit).await?;
                    return self.open_log(id, true).await;
                }
                // Another one was created concurrently.
                Err(Error::Conflict { .. }) => next += 1,
                Err(error) => return Err(error),
            }
        }
    }

    async fn open_log(&self, id: StudyId, new: bool) -> Result<Arc<StudyLog>> {
        let folder = self.folder.clone();
        let opened = tokio::task::spawn_blocking(move || {
            make_private_folder(&folder)?;
            match new {
                true => StudyLog::create(&folder, id),
                false => StudyLog::resume(&folder, id.clone())
                    // After a power failure between storing the record and creating the log.
                    .or_else(|_| StudyLog::create(&folder, id)),
            }
        });
        let opened = opened.await.map_err(|_| Error::Stopping)?;
        opened.map(Arc::new).map_err(|error| failed(&error))
    }

    pub async fn open_in(&self, relay: &RelayName) -> Result<Option<Arc<StudyLog>>> {
        for (id, record) in self.list().await? {
            if record.ended_at.is_none() && record.relay_session == relay.as_str() {
                return Ok(Some(self.open_log(id, false).await?));
            }
        }
        Ok(None)
    }

    /// Ends a study session; its log is on disk when this returns.
    pub async fn end(&self, log: &Arc<StudyLog>, reason: Option<String>) -> Result<()> {
        let syncing = Arc::clone(log);
        let synced = tokio::task::spawn_blocking(move || syncing.sync()).await;
        let synced = synced.map_err(|_| Error::Stopping)?;
        synced.map_err(|error| failed(&error))?;
        let Some(stored) = self.store.get::<StudyRecord>(&key(log.id())).await? else {
            return Ok(());
        };
        let mut value = stored.value;
        value.ended_at = Some(gangway_core::event::now());
        value.reason = reason;
        value.events = Some(log.count());
        let commit = self.store.put(vec![record(key(log.id()), &value)?]).await?;
        self.store.keep(commit).await
    }

    /// Newest first.
    pub async fn list(&self) -> Result<Vec<(StudyId, StudyRecord)>> {
        let rows = self.store.list::<StudyRecord>("study/", None, MOST).await?;
        let named = rows.into_iter().filter_map(|(key, row)| {
            let id: StudyId = key.strip_prefix("study/")?.parse().ok()?;
            Some((id, row.value))
        });
        let mut named: Vec<_> = named.collect();
        // By key, the 1000th of a day would sort before the second.
        named.sort_by(|(a, one), (b, other)| {
            let (one, other) = (one.started_at, other.started_at);
            other.cmp(&one).then(b.number().cmp(&a.number()))
        });
        Ok(named)
    }

    /// The list for clients; `open` returns the number of events of open sessions.
    pub async fn entries(
        &self,
        open: impl Fn(&StudyId, &StudyRecord) -> Option<u64>,
    ) -> Result<StudyList> {
        let entry = |(id, record): (StudyId, StudyRecord)| StudyEntry {
            session_id: id.to_string(),
            events: record.events.or_else(|| open(&id, &record)),
            study_id: record.study_id,
            participant_id: record.participant_id,
            started_at: record.started_at,
            ended_at: record.ended_at,
            reason: record.reason,
            relay_session: record.relay_session,
        };
        let sessions = self.list().await?.into_iter().map(entry).collect();
        Ok(StudyList { sessions })
    }

    pub async fn get(&self, id: &StudyId) -> Result<Option<StudyRecord>> {
        Ok(self
            .store
            .get::<StudyRecord>(&key(id))
            .await?
            .map(|row| row.value))
    }

    #[must_use]
    pub fn log_path(&self, id: &StudyId) -> PathBuf {
        log::path(&self.folder, id)
    }
}
