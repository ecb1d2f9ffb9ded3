//! The working folders of sessions. A default folder is created when it is first used, which most sessions never do.

use std::{
    fs::DirEntry,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use gangway_core::SessionId;
use gangway_files::{FileError, Folder, Limits, make_private_folder};
use jiff::Timestamp;

/// The location of the folders.
pub struct Workspaces {
    data: PathBuf,
    root: PathBuf,
}

impl Workspaces {
    /// In this data folder.
    #[must_use]
    pub fn new(data: &Path) -> Self {
        Self {
            data: data.to_owned(),
            root: data.join("workspaces"),
        }
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

    /// Creates a folder if it is a session's default folder; any other folder must exist.
    pub fn make_if_default(&self, folder: &Path) -> io::Result<()> {
        let name = folder.file_name().and_then(|name| name.to_str());
        let of_session = name.is_some_and(|name| name.parse::<SessionId>().is_ok());
        if of_session && folder.parent() == Some(&*self.root) {
            make_private_folder(folder)?;
        }
        Ok(())
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
        let checked = move || {
            own.make_if_default(&path)?;
            own.check(&path)
        };
        let checked = tokio::task::spawn_blocking(checked).await;
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
        let workspaces = Workspaces::new(&data);
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

    #[tokio::test]
    async fn a_default_folder_is_created_when_it_is_first_opened_and_no_other_one_is() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let workspaces = Arc::new(Workspaces::new(home.path()));
        let session = SessionId::new();
        let folder = workspaces.folder(session);
        assert!(!folder.exists());
        workspaces.open(&folder).await.unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&workspaces.root)), (0o700, 0o700));
        for other in [
            workspaces.root.join("name"),
            folder.join(SessionId::new().to_string()),
            home.path().join(SessionId::new().to_string()),
            workspaces
                .root
                .join("..")
                .join(SessionId::new().to_string()),
        ] {
            assert!(workspaces.open(&other).await.is_err());
            assert!(!other.exists(), "{}", other.display());
        }
    }
}
