//! Sessions, with a default folder if they name none.

use std::{sync::Arc, time::Duration};

use gangway_core::{Command, Error, Hub, NewSession, Profile, Result, SessionId};
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::Workspaces;

/// How long a session for a single task is kept: long enough for debugging.
const KEPT: SignedDuration = SignedDuration::from_hours(1);

/// Interval of the cleanup.
const SWEEP: Duration = Duration::from_secs(600);

/// The sessions of a hub with their working folders.
#[derive(Clone)]
pub struct Sessions {
    hub: Arc<Hub>,
    workspaces: Arc<Workspaces>,
}

impl Sessions {
    /// Sessions of this hub, with default folders here.
    #[must_use]
    pub fn new(hub: Arc<Hub>, workspaces: Arc<Workspaces>) -> Self {
        Self { hub, workspaces }
    }

    /// The hub.
    #[must_use]
    pub fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// Their folders.
    #[must_use]
    pub fn workspaces(&self) -> &Arc<Workspaces> {
        &self.workspaces
    }

    /// Creates a session. Without `cwd` it gets a default folder.
    pub async fn create(&self, request: NewSession) -> Result<(SessionId, Profile)> {
        let id = SessionId::new();
        Ok((id, self.create_as(id, request).await?))
    }

    /// The same with an id of the caller's choice.
    pub async fn create_as(&self, id: SessionId, mut request: NewSession) -> Result<Profile> {
        if request.cwd.is_empty() {
            request.cwd = self.workspaces.folder(id).to_string_lossy().into_owned();
        }
        self.hub.create(id, request).await
    }

    /// Removes the sessions for a single task that were last used before then; returns their number.
    pub async fn sweep(&self, before: Timestamp) -> Result<usize> {
        let mut removed = 0;
        for id in self.hub.left_over(before).await? {
            let session = self.hub.open(id).await?;
            // A session with a running turn is checked again next time.
            if !session.is_running() {
                session.submit(Command::Delete).await?;
                self.remove_folder(id).await;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Removes default folders without a session that have not changed since then: one may be opened while its session
    /// is deleted.
    pub async fn sweep_folders(&self, before: Timestamp) -> usize {
        let mut removed = 0;
        for id in self.workspaces.left_over(before).await {
            if matches!(self.hub.describe(id).await, Err(Error::SessionNotFound(_))) {
                self.remove_folder(id).await;
                removed += 1;
            }
        }
        removed
    }

    /// Cleans up periodically until the server stops.
    pub async fn keep_swept(self, stop: CancellationToken) {
        loop {
            let before = Timestamp::now() - KEPT;
            if let Err(error) = self.hub.sweep_launches(before).await {
                tracing::warn!(%error, "cannot remove expired launches");
            }
            if let Err(error) = self.sweep(before).await {
                tracing::warn!(%error, "cannot remove expired sessions");
            }
            let workspaces = self.sweep_folders(before).await;
            if workspaces > 0 {
                tracing::info!(workspaces, "removed folders of sessions that do not exist");
            }
            tokio::select! {
                () = tokio::time::sleep(SWEEP) => {}
                () = stop.cancelled() => return,
            }
        }
    }

    /// Removes the default folder of a session; other folders stay.
    pub async fn remove_folder(&self, id: SessionId) {
        if let Err(error) = tokio::fs::remove_dir_all(self.workspaces.folder(id)).await
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "cannot remove the folder of a session");
        }
        tokio::fs::remove_dir_all(self.workspaces.beside(id))
            .await
            .ok();
    }
}
