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

/// How much work on files goes on at once for one folder; the rest waits.
const AT_ONCE: usize = 8;

/// How much of everything there may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that are written at once.
    pub write: u64,
    /// Entries that are listed at once.
    pub list: usize,
    /// Watches at once.
    pub watches: usize,
    /// Folders that are watched for all watches together.
    pub watched_folders: usize,
    /// Changes that wait for one reader; more are told as one change of what it watches.
    pub waiting: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            write: 16 << 20,
            list: 10_000,
            watches: 256,
            // Half of what a cautious Linux gives to one user for all programs.
            watched_folders: 4_096,
            waiting: 1_000,
        }
    }
}

/// What something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A device, a pipe, a socket, or a link that leads out or nowhere.
    Other,
}

impl Kind {
    /// Its name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Other => "other",
        }
    }
}

/// What is known of a file or folder without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: Kind,
    /// How many bytes a file has; 0 for all else.
    pub size: u64,
    /// When it was last changed.
    pub modified: Timestamp,
}

/// One thing in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name, good for a path.
    pub name: String,
    /// What it is.
    pub stat: Stat,
}

/// What is in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// By name.
    pub entries: Vec<Entry>,
    /// Whether there are more than were asked for.
    pub more: bool,
    /// How many are left out since their names cannot stand in a path, such as those that are no text.
    pub unnamed: usize,
}

/// A folder that nothing leads out of; cheap to clone.
#[derive(Clone)]
pub struct Folder {
    inner: Arc<Inner>,
}

struct Inner {
    dir: Arc<Dir>,
    /// Where it was when it was opened; only to understand links that name it.
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
    /// The folder at this path of the system, which may be a link, with the usual limits.
    pub async fn open(path: &Path) -> Result<Self, FileError> {
        Self::open_with(path, Limits::default()).await
    }

    /// The folder at this path of the system, with these limits; what a crash left of unfinished writes is removed.
    pub async fn open_with(path: &Path, limits: Limits) -> Result<Self, FileError> {
        let place = path.to_owned();
        let opened = tokio::task::spawn_blocking(move || {
            // Links are followed here and never again: from now on there is the folder, not its path.
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

    /// What a file or folder is, how large and how old.
    pub async fn stat(&self, path: &FilePath) -> Result<Stat, FileError> {
        let path = path.clone();
        self.work(move |folder| folder.through(&path, |path| inside::stat(&folder.dir, path)))
            .await
    }

    /// What is in a folder, by name, so many at most.
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

    /// Begins to read a file from this byte on, to its end or so many bytes.
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

    /// Makes a file have this content, whole or not at all, and returns when it is on the disk; folders on the way are
    /// made.
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

    /// Begins to watch a file, or a folder and all that is below it; what is not there yet can be watched too. Whatever
    /// changes after this returns is told.
    pub async fn watch(&self, path: FilePath) -> Result<Watch, FileError> {
        self.inner.watches.add(path).await
    }

    /// Does work on files where it keeps nobody else waiting.
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

/// Work that was cut off by the end of the server.
pub(super) fn stopped() -> FileError {
    FileError::Io("the server is stopping".into())
}
