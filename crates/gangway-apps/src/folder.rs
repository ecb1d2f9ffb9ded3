//! The files of an app, on disk or built in.

use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use gangway_core::AppName;

use crate::shipped::Shipped;
use gangway_files::{FileError, FilePath, once};

/// Where the files of an app are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AppFolder {
    /// Built into the binary.
    Builtin(AppName),
    /// On disk.
    Disk(PathBuf),
}

/// What tells whether a file is still the one that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    Builtin([u8; 32]),
    Disk(once::Mark),
}

impl Mark {
    /// Whether another write would surely change it: clocks of file systems are coarse.
    pub(super) fn is_settled(&self) -> bool {
        let Self::Disk(mark) = self else { return true };
        let age = |written: SystemTime| SystemTime::now().duration_since(written).ok();
        mark.modified
            .and_then(age)
            .is_some_and(|age| age > Duration::from_millis(100))
    }
}

impl AppFolder {
    /// The path on disk.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Builtin(_) => None,
            Self::Disk(path) => Some(path),
        }
    }

    /// The mark of a file; blocks.
    pub(super) fn mark(&self, file: &FilePath) -> Result<Mark, FileError> {
        match self {
            Self::Builtin(name) => Ok(Mark::Builtin(shipped(name, file)?.metadata.sha256_hash())),
            Self::Disk(folder) => once::mark(folder, file).map(Mark::Disk),
        }
    }

    /// A file of it, so many bytes at the most; blocks.
    pub(super) fn read(&self, file: &FilePath, most: u64) -> Result<(Mark, Bytes), FileError> {
        match self {
            Self::Builtin(name) => {
                let found = shipped(name, file)?;
                let mark = Mark::Builtin(found.metadata.sha256_hash());
                Ok(match found.data {
                    std::borrow::Cow::Borrowed(data) => (mark, Bytes::from_static(data)),
                    std::borrow::Cow::Owned(data) => (mark, data.into()),
                })
            }
            Self::Disk(folder) => {
                let (mark, bytes) = once::read(folder, file, most)?;
                Ok((Mark::Disk(mark), bytes.into()))
            }
        }
    }
}

fn shipped(name: &AppName, file: &FilePath) -> Result<rust_embed::EmbeddedFile, FileError> {
    let missing = || FileError::NotFound { path: file.clone() };
    Shipped::get(&format!("{name}/{}", file.as_str())).ok_or_else(missing)
}

/// Why a file of an app cannot be had, as part of a sentence.
pub(super) fn told(error: &FileError) -> String {
    match error {
        FileError::BadPath { why, .. } => (*why).to_owned(),
        FileError::Outside { .. } => "it leads out of the app's folder by a link".to_owned(),
        FileError::NotFound { .. } => "it is not there".to_owned(),
        FileError::NotAFile { .. } => "it is a folder".to_owned(),
        FileError::TooLarge { limit } => format!("it is larger than {limit} bytes"),
        FileError::NoFolder(why) => format!("the app's folder cannot be opened: {why}"),
        other => other.to_string(),
    }
}
