//! A new session, with a folder of its own where it names none.

use gangway_core::{Error, NewSession, Profile, Result, SessionId};

use super::App;

impl App {
    /// Makes a session. Without a folder in the wish it gets one of its own, which goes again if the session does not
    /// come to be.
    pub async fn start_session(&self, mut wish: NewSession) -> Result<(SessionId, Profile)> {
        // A folder that is made before its session is refused would stay behind.
        if let Some(agent) = &wish.agent {
            self.hub.agents().get(agent)?;
        }
        let id = SessionId::new();
        let own = wish.cwd.is_empty();
        if own {
            let made = self.workspaces.make(id).await;
            let folder = made.map_err(|error| Error::StorageReadOnly(error.to_string()))?;
            wish.cwd = folder.to_string_lossy().into_owned();
        }
        let created = self.hub.create(id, wish).await;
        // One that was written but not synced is there, and needs its folder.
        if own && created.is_err() && self.hub.describe(id).await.is_err() {
            self.remove_workspace(id).await;
        }
        Ok((id, created?))
    }

    /// Removes the folder that was made for a session; one that the caller named stays.
    pub async fn remove_workspace(&self, id: SessionId) {
        if let Err(error) = tokio::fs::remove_dir_all(self.workspaces.folder(id)).await
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "the folder of a session could not be removed");
        }
    }
}
