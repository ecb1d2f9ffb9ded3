//! The files of an app, on disk or built in.

use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use gangway_core::AppName;

use crate::shipped::Shipped;
use gangway_files::{FileError, FilePath, once};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AppFolder {
    Builtin(AppName),
    Disk(PathBuf),
}

/// Detects whether a file has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SourceStamp {
    Builtin([u8; 32]),
    Disk(once::FileStamp),
}

impl SourceStamp {
    /// Whether another write would certainly change it: file system timestamps are coarse.
    pub(super) fn is_settled(&self) -> bool {
        let Self::Disk(mark) = self else { return true };
        let age = |written: SystemTime| SystemTime::now().duration_since(written).ok();
        mark.modified
            .and_then(age)
            .is_some_and(|age| age > Duration::from_millis(100))
    }
}

impl AppFolder {
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Builtin(_) => None,
            Self::Disk(path) => Some(path),
        }
    }

    /// The mark of a file; blocks.
    pub(super) fn mark(&self, file: &FilePath) -> Result<SourceStamp, FileError> {
        match self {
            Self::Builtin(name) => Ok(SourceStamp::Builtin(
                shipped(name, file)?.metadata.sha256_hash(),
            )),
            Self::Disk(folder) => once::mark(folder, file).map(SourceStamp::Disk),
        }
    }

    /// Reads a file of at most `most` bytes; blocks.
    pub(super) fn read(
        &self,
        file: &FilePath,
        most: u64,
    ) -> Result<(SourceStamp, Bytes), FileError> {
        match self {
            Self::Builtin(name) => {
                let found = shipped(name, file)?;
                let mark = SourceStamp::Builtin(found.metadata.sha256_hash());
                Ok(match found.data {
                    std::borrow::Cow::Borrowed(data) => (mark, Bytes::from_static(data)),
                    std::borrow::Cow::Owned(data) => (mark, data.into()),
                })
            }
            Self::Disk(folder) => {
                let (mark, bytes) = once::read(folder, file, most)?;
                Ok((SourceStamp::Disk(mark), bytes.into()))
            }
        }
    }
}

fn shipped(name: &AppName, file: &FilePath) -> Result<rust_embed::EmbeddedFile, FileError> {
    let missing = || FileError::NotFound { path: file.clone() };
    Shipped::get(&format!("{name}/{}", file.as_str())).ok_or_else(missing)
}

/// Why a file cannot be read, as part of a sentence.
pub(super) fn describe(error: &FileError) -> String {
    match error {
        FileError::BadPath { why, .. } => (*why).to_owned(),
        FileError::Outside { .. } => "it is a symlink to outside of the app's folder".to_owned(),
        FileError::NotFound { .. } => "it does not exist".to_owned(),
        FileError::NotAFile { .. } => "it is a folder".to_owned(),
        FileError::TooLarge { limit } => format!("it is larger than {limit} bytes"),
        FileError::NoFolder(why) => format!("the app's folder cannot be opened: {why}"),
        other => other.to_string(),
    }
}
