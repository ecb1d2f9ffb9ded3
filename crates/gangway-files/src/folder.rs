//! A session's folder: the only way to its files.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use cap_std::{ambient_authority, fs::Dir};
use jiff::Timestamp;
use tokio::sync::Semaphore;

use super::{FileError, FilePath, FileRead, Watch, inside, links, watch::Watches, write};

/// Concurrent operations per folder; others wait.
const AT_ONCE: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a write.
    pub write: u64,
    /// Entries of a listing.
    pub list: usize,
    /// Concurrent watches.
    pub watches: usize,
    /// Watched folders of all watches together.
    pub watched_folders: usize,
    /// Queued changes per reader; beyond that they become one change of the watched path.
    pub waiting: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            write: 16 << 20,
            list: 10_000,
            watches: 256,
            // Half of a conservative Linux limit per user.
            watched_folders: 4_096,
            waiting: 1_000,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    Folder,
    /// A device, a pipe, a socket, or a symlink that is broken or leads outside.
    Other,
}

impl Kind {
    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Other => "other",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    pub kind: Kind,
    /// Bytes of a file; 0 for all else.
    pub size: u64,
    pub modified: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Valid in a path.
    pub name: String,
    pub stat: Stat,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Sorted by name.
    pub entries: Vec<Entry>,
    /// Whether there are more.
    pub more: bool,
    /// Entries left out because their names are not valid in a path, such as those that are not UTF-8.
    pub unnamed: usize,
}

/// A folder that cannot be escaped; cheap to clone.
#[derive(Clone)]
pub struct Folder {
    inner: Arc<Inner>,
}

struct Inner {
    dir: Arc<Dir>,
    /// Its path when it was opened; only to resolve absolute symlinks.
    place: PathBuf,
    limits: Limits,
    permits: Arc<Semaphore>,
    watches: Watches,
}

impl Inner {
    fn through<T>(
        &self,
        path: &FilePath,
        work: impl Fn(&FilePath) -> Result<T, FileError>,
    ) -> Result<T, FileError> {
        links::through(&self.dir, &self.place, path, work)
    }
}

impl Folder {
    /// Opens a folder, following symlinks, with default limits.
    pub async fn open(path: &Path) -> Result<Self, FileError> {
        Self::open_with(path, Limits::default()).await
    }

    /// Opens a folder with these limits; removes unfinished writes of a crash.
    pub async fn open_with(path: &Path, limits: Limits) -> Result<Self, FileError> {
        let place = path.to_owned();
        let opened = tokio::task::spawn_blocking(move || {
            // Symlinks are followed here and never again: from now on the handle counts, not the path.
            let place = place.canonicalize()?;
            let dir = Dir::open_ambient_dir(&place, ambient_authority())?;
            write::sweep(&dir);
            std::io::Result::Ok((dir, place))
        });
        let (dir, place) = opened
            .await
            .map_err(|_| stopped())?
            .map_err(|error| FileError::NoFolder(error.to_string()))?;
        let dir = Arc::new(dir);
        Ok(Self {
            inner: Arc::new(Inner {
                watches: Watches::new(dir.clone(), place.clone(), limits.clone()),
                dir,
                place,
                limits,
                permits: Arc::new(Semaphore::new(AT_ONCE)),
            }),
        })
    }

    pub async fn stat(&self, path: &FilePath) -> Result<Stat, FileError> {
        let path = path.clone();
        self.work(move |folder| folder.through(&path, |path| inside::stat(&folder.dir, path)))
            .await
    }

    /// Lists a folder, sorted by name, up to a limit.
    pub async fn list(&self, path: &FilePath, limit: usize) -> Result<Listing, FileError> {
        let path = path.clone();
        self.work(move |folder| {
            let limit = limit.min(folder.limits.list);
            folder.through(&path, |path| {
                inside::list(&folder.dir, &folder.place, path, limit)
            })
        })
        .await
    }

    /// Reads a file from an offset, up to its end or a number of bytes.
    pub async fn read(
        &self,
        path: &FilePath,
        offset: u64,
        length: Option<u64>,
    ) -> Result<FileRead, FileError> {
        let wanted = path.clone();
        let (file, size) = self
            .work(move |folder| {
                folder.through(&wanted, |path| inside::open_file(&folder.dir, path, offset))
            })
            .await?;
        let left = size.saturating_sub(offset);
        let left = length.map_or(left, |length| length.min(left));
        Ok(FileRead::new(
            path.clone(),
            file,
            size,
            left,
            self.inner.permits.clone(),
        ))
    }

    /// Writes a file atomically and returns when it is on the disk; creates missing folders.
    pub async fn write(&self, path: &FilePath, content: Bytes) -> Result<Stat, FileError> {
        let limit = self.inner.limits.write;
        if content.len() as u64 > limit {
            return Err(FileError::TooLarge { limit });
        }
        let path = path.clone();
        self.work(move |folder| {
            folder.through(&path, |path| write::write(&folder.dir, path, &content))
        })
        .await
    }

    /// Watches a file, or a folder recursively; the path need not exist yet. Every change after this returns is
    /// reported.
    pub async fn watch(&self, path: FilePath) -> Result<Watch, FileError> {
        self.inner.watches.add(path).await
    }

    /// Runs blocking work.
    async fn work<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Inner) -> Result<T, FileError> + Send + 'static,
    ) -> Result<T, FileError> {
        let permits = self.inner.permits.clone();
        let permit = permits.acquire_owned().await.map_err(|_| stopped())?;
        let inner = self.inner.clone();
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            job(&inner)
        });
        done.await.map_err(|_| stopped())?
    }
}

/// Work that was cancelled by the shutdown.
pub(super) fn stopped() -> FileError {
    FileError::Io("the server is stopping".into())
}
