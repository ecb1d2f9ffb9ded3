//! A pool of read connections, and the places of damage that reads found.

use std::{collections::HashSet, path::PathBuf, sync::Arc};

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::error::{Damage, Error, Result};

/// Maximum number of concurrent reads; more callers wait.
const READERS: usize = 4;

/// Maximum number of remembered places of damage, so that each is logged once.
const NOTED: usize = 1024;

/// Idle connections.
pub(super) struct Readers {
    file: PathBuf,
    idle: Mutex<Vec<Connection>>,
    damage: Mutex<HashSet<(Option<crate::SessionId>, Option<u64>)>>,
    free: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(file: PathBuf) -> Self {
        Self {
            file,
            idle: Mutex::default(),
            damage: Mutex::default(),
            free: Arc::new(Semaphore::new(READERS)),
        }
    }

    /// Runs a read on a blocking thread.
    pub(super) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let free = Arc::clone(&self.free);
        let place = free.acquire_owned().await.map_err(|_| super::stopped())?;
        let readers = Arc::clone(self);
        let work = move || {
            // Owned by the read: dropping the caller does not end the read.
            let _place = place;
            let connection = match readers.idle.lock().pop() {
                Some(connection) => connection,
                None => super::open::reader(&readers.file)?,
            };
            let result = read(&connection);
            if let Err(Error::Corrupted(damage)) = &result {
                readers.note(damage);
            }
            readers.idle.lock().push(connection);
            result
        };
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|error| Error::Storage(error.to_string()))?
    }

    /// Logs damage, once per place.
    pub(super) fn note(&self, damage: &Damage) {
        let mut noted = self.damage.lock();
        if noted.len() < NOTED && noted.insert((damage.session, damage.event)) {
            tracing::error!(
                session = damage.session.map(tracing::field::display),
                event = damage.event,
                what = damage.what,
                "stored data is damaged; `gangway doctor` lists all damage"
            );
        }
    }

    /// The number of places with damage, at most 1024.
    pub(super) fn damaged_places(&self) -> usize {
        self.damage.lock().len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn reads_whose_callers_went_away_leave_no_more_connections_than_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gangway.db");
        super::super::open::writer(&file).unwrap();
        let readers = Arc::new(Readers::new(file));
        for _ in 0..40 {
            let slow = readers.run(|_| {
                std::thread::sleep(Duration::from_millis(5));
                Ok(())
            });
            let _ = tokio::time::timeout(Duration::from_millis(1), slow).await;
        }
        let all = u32::try_from(READERS).unwrap();
        let _rest = readers.free.acquire_many(all).await.unwrap();
        assert!(readers.idle.lock().len() <= READERS);
    }
}
