//! The working folders of sessions. Default folders are created by a single thread, so that a burst of new sessions
//! does not wake many.

use std::{
    fs::DirEntry,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use gangway_core::SessionId;
use gangway_files::{FileError, Folder, Limits, make_private_folder};
use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};

/// Capacity of the queue; more callers wait outside.
const WAITING: usize = 64;

type Wish = (PathBuf, oneshot::Sender<io::Result<()>>);

/// The location of the folders, and the thread that creates them.
pub struct Workspaces {
    data: PathBuf,
    root: PathBuf,
    wishes: mpsc::Sender<Wish>,
}

impl Workspaces {
    /// In this data folder; the thread ends when this is dropped.
    pub fn new(data: &Path) -> io::Result<Self> {
        let (wishes, mut waiting) = mpsc::channel::<Wish>(WAITING);
        std::thread::Builder::new()
            .name("gangway-folders".into())
            .spawn(move || {
                while let Some((folder, reply)) = waiting.blocking_recv() {
                    // A caller that was dropped needs no answer.
                    let _ = reply.send(make_private_folder(&folder));
                }
            })?;
        Ok(Self {
            data: data.to_owned(),
            root: data.join("workspaces"),
            wishes,
        })
    }

    /// The data folder.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The folder for a session's data besides its log.
    #[must_use]
    pub fn beside(&self, session: SessionId) -> PathBuf {
        self.data.join("sessions").join(session.to_string())
    }

    /// The path of a session's default folder, whether it exists or not.
    #[must_use]
    pub fn folder(&self, session: SessionId) -> PathBuf {
        self.root.join(session.to_string())
    }

    /// Whether a session may work in a folder, after resolving links. The data folder contains keys and conversations:
    /// no workspace is inside it, except for default folders, and none contains it.
    pub fn check(&self, folder: &Path) -> io::Result<bool> {
        let (folder, data) = (folder.canonicalize()?, self.data.canonicalize()?);
        let made = self.root.canonicalize();
        if made.is_ok_and(|made| folder.starts_with(&made) && folder != made) {
            return Ok(true);
        }
        let apart = !folder.starts_with(&data) && !data.starts_with(&folder);
        Ok(apart && !leads_to(&folder, &data) && !leads_to(&data, &folder))
    }

    /// The working folder of a session, if allowed; links are resolved each time it is opened.
    pub async fn open(self: &Arc<Self>, folder: &Path) -> Result<Folder, FileError> {
        self.open_with(folder, Limits::default()).await
    }

    /// The same with other limits.
    pub async fn open_with(
        self: &Arc<Self>,
        folder: &Path,
        limits: Limits,
    ) -> Result<Folder, FileError> {
        let (own, path) = (Arc::clone(self), folder.to_owned());
        let checked = tokio::task::spawn_blocking(move || own.check(&path)).await;
        match checked {
            Ok(Ok(true)) => Folder::open_with(folder, limits).await,
            Ok(Ok(false)) => Err(FileError::NoFolder(
                "it is in Gangway's data folder".to_owned(),
            )),
            Ok(Err(error)) => Err(FileError::NoFolder(error.to_string())),
            Err(error) => Err(FileError::Io(error.to_string())),
        }
    }

    /// The sessions whose default folder has not changed since then.
    pub async fn left_over(&self, before: Timestamp) -> Vec<SessionId> {
        let root = self.root.clone();
        let look = move || {
            let old = |entry: &DirEntry| {
                let about = entry.metadata().ok()?;
                let changed = Timestamp::try_from(about.modified().ok()?).ok()?;
                (about.is_dir() && changed < before).then_some(())
            };
            let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
            let entries = entries.filter(|entry| old(entry).is_some());
            let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
            ids.collect()
        };
        tokio::task::spawn_blocking(look).await.unwrap_or_default()
    }

    /// Creates the default folder of a session.
    pub async fn make(&self, session: SessionId) -> io::Result<PathBuf> {
        let folder = self.folder(session);
        let (reply, made) = oneshot::channel();
        let stopped = |_| io::Error::other("the thread that creates folders has stopped");
        let wish = (folder.clone(), reply);
        self.wishes.send(wish).await.map_err(|_| stopped(()))?;
        made.await.map_err(|_| stopped(()))??;
        Ok(folder)
    }
}

/// Whether a path or one of its parents is this folder under another name, as with a bind mount.
#[cfg(unix)]
fn leads_to(path: &Path, folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| {
        let about = path.metadata().ok()?;
        Some((about.dev(), about.ino()))
    };
    let wanted = identity(folder);
    wanted.is_some() && path.ancestors().any(|path| identity(path) == wanted)
}

#[cfg(not(unix))]
fn leads_to(_path: &Path, _folder: &Path) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn no_workspace_reaches_the_data_folder_by_any_way() {
        let home = tempfile::tempdir().unwrap();
        let data = home.path().join("data");
        let made = data.join("workspaces/one");
        let beside = home.path().join("project");
        for folder in [&made, &data.join("secrets"), &beside] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let link = beside.join("link");
        std::os::unix::fs::symlink(&data, &link).unwrap();
        let workspaces = Workspaces::new(&data).unwrap();
        let check = |folder: &Path| workspaces.check(folder).unwrap();
        assert!(check(&beside) && check(&made));
        for folder in [
            data.as_path(),
            &data.join("secrets"),
            &data.join("workspaces"),
            &link,
            &link.join("secrets"),
            &beside.join("../data"),
            home.path(),
            Path::new("/"),
        ] {
            assert!(!check(folder), "{}", folder.display());
        }
        assert!(workspaces.check(&home.path().join("missing")).is_err());
    }
}
