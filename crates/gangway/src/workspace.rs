//! The folders of sessions that name none, made by one thread: a burst of new sessions wakes no crowd of them.

use std::{
    io,
    path::{Path, PathBuf},
};

use gangway_core::SessionId;
use tokio::sync::{mpsc, oneshot};

use crate::data::make_private_folder;

/// Folders that may wait to be made; more callers wait outside.
const WAITING: usize = 64;

type Wish = (PathBuf, oneshot::Sender<io::Result<()>>);

/// Where the folders are, and who makes them.
pub struct Workspaces {
    root: PathBuf,
    wishes: mpsc::Sender<Wish>,
}

impl Workspaces {
    /// Folders in this one; the thread ends with the value.
    pub fn new(root: &Path) -> io::Result<Self> {
        let (wishes, mut waiting) = mpsc::channel::<Wish>(WAITING);
        std::thread::Builder::new()
            .name("gangway-folders".into())
            .spawn(move || {
                while let Some((folder, reply)) = waiting.blocking_recv() {
                    // A caller that went away needs no answer.
                    let _ = reply.send(make_private_folder(&folder));
                }
            })?;
        Ok(Self {
            root: root.to_owned(),
            wishes,
        })
    }

    /// Where the folder of a session is, whether or not it was made.
    #[must_use]
    pub fn folder(&self, session: SessionId) -> PathBuf {
        self.root.join(session.to_string())
    }

    /// Makes the folder of a session.
    pub async fn make(&self, session: SessionId) -> io::Result<PathBuf> {
        let folder = self.folder(session);
        let (reply, made) = oneshot::channel();
        let stopped = |_| io::Error::other("the thread that makes folders has stopped");
        let wish = (folder.clone(), reply);
        self.wishes.send(wish).await.map_err(|_| stopped(()))?;
        made.await.map_err(|_| stopped(()))??;
        Ok(folder)
    }
}
