//! Sessions with a folder of their own where they name none.

use std::{sync::Arc, time::Duration};

use gangway_core::{Command, Error, Hub, NewSession, Profile, Result, SessionId};
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::Workspaces;

/// How long a session that was for one task stays: long enough to be looked into.
const KEPT: SignedDuration = SignedDuration::from_hours(1);

/// How often it is looked for such sessions.
const SWEEP: Duration = Duration::from_secs(600);

/// The sessions of a hub, each with a folder to work in.
#[derive(Clone)]
pub struct Sessions {
    hub: Arc<Hub>,
    workspaces: Arc<Workspaces>,
}

impl Sessions {
    /// Sessions of this hub that get their folders here.
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

    /// Makes a session. Without a folder in the wish it gets one of its own, which goes again if the session does not
    /// come to be.
    pub async fn create(&self, wish: NewSession) -> Result<(SessionId, Profile)> {
        let id = SessionId::new();
        Ok((id, self.create_as(id, wish).await?))
    }

    /// The same, under a name that the caller chose.
    pub async fn create_as(&self, id: SessionId, mut wish: NewSession) -> Result<Profile> {
        // A folder that is made before its session is refused would stay behind.
        if let Some(agent) = &wish.agent {
            self.hub.agents().get(agent)?;
        }
        let own = wish.cwd.is_empty();
        if own {
            let made = self.workspaces.make(id).await;
            let folder = made.map_err(|error| Error::StorageReadOnly(error.to_string()))?;
            wish.cwd = folder.to_string_lossy().into_owned();
        }
        let created = self.hub.create(id, wish).await;
        // One that was written but not synced is there, and needs its folder.
        if own && created.is_err() && self.hub.describe(id).await.is_err() {
            self.remove_folder(id).await;
        }
        created
    }

    /// Removes the sessions that were for one task only and were last used before then; how many.
    pub async fn sweep(&self, before: Timestamp) -> Result<usize> {
        let mut removed = 0;
        for id in self.hub.left_over(before).await? {
            let session = self.hub.open(id).await?;
            // One that still answers is looked at again next time.
            if !session.is_running() {
                session.submit(Command::Delete).await?;
                self.remove_folder(id).await;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Removes folders that were made for sessions which do not exist, if nothing changed in them since then: a crash
    /// can come between the folder and the session.
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

    /// Does so now and then, until the server stops.
    pub async fn keep_swept(self, stop: CancellationToken) {
        loop {
            let before = Timestamp::now() - KEPT;
            if let Err(error) = self.hub.sweep_launches(before).await {
                tracing::warn!(%error, "launches that are over could not be removed");
            }
            if let Err(error) = self.sweep(before).await {
                tracing::warn!(%error, "sessions that are over could not be removed");
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

    /// Removes the folder that was made for a session; one that the caller named stays.
    pub async fn remove_folder(&self, id: SessionId) {
        if let Err(error) = tokio::fs::remove_dir_all(self.workspaces.folder(id)).await
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "the folder of a session could not be removed");
        }
        tokio::fs::remove_dir_all(self.workspaces.beside(id))
            .await
            .ok();
    }
}
