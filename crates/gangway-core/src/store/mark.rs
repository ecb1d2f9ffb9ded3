//! A mark beside the database: the number of commits known to be on disk, which reveals a truncated database or
//! write-ahead log. SQLite alone takes a truncated log for one that ends there.
//!
//! It is written after each sync and not synced itself: a power cut may leave an older mark, never one that is too
//! high.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use super::sum;

pub(super) struct Mark {
    file: File,
}

/// The path of this database's mark.
pub(super) fn path(database: &Path) -> PathBuf {
    PathBuf::from(format!("{}-synced", database.display()))
}

/// The number of synced commits, if the mark is readable.
pub(super) fn read(database: &Path) -> Option<u64> {
    let bytes = std::fs::read(path(database)).ok()?;
    let (commits, stored) = bytes.split_first_chunk::<8>()?;
    let commits = u64::from_le_bytes(*commits);
    let stored = i64::from_le_bytes(stored.try_into().ok()?);
    (stored == sum::commits(commits)).then_some(commits)
}

impl Mark {
    pub(super) fn open(database: &Path) -> io::Result<Self> {
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path(database))?;
        Ok(Self { file })
    }

    pub(super) fn write(&self, commits: u64) -> io::Result<()> {
        let mut note = [0; 16];
        note[..8].copy_from_slice(&commits.to_le_bytes());
        note[8..].copy_from_slice(&sum::commits(commits).to_le_bytes());
        write_at_start(&self.file, &note)
    }
}

#[cfg(unix)]
fn write_at_start(file: &File, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, 0)
}

#[cfg(not(unix))]
fn write_at_start(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    use std::io::{Seek, Write};
    file.rewind()?;
    file.write_all(bytes)
}
