//! Reads a whole file, from a folder that is opened only for that.

use std::{io::Read, path::Path, time::SystemTime};

use cap_std::{ambient_authority, fs::Dir, fs::Metadata};

use super::{FileError, FilePath, inside, links};

/// Detects whether a file has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStamp {
    pub size: u64,
    pub modified: Option<SystemTime>,
    /// Device, inode and change time.
    place: [i64; 4],
}

impl FileStamp {
    fn of(there: &Metadata) -> Self {
        Self {
            size: there.len(),
            modified: there.modified().ok().map(|time| time.into_std()),
            place: place(there),
        }
    }
}

#[cfg(unix)]
fn place(there: &Metadata) -> [i64; 4] {
    use cap_std::fs::MetadataExt;
    let id = [there.dev(), there.ino()].map(u64::cast_signed);
    [id[0], id[1], there.ctime(), there.ctime_nsec()]
}

#[cfg(not(unix))]
fn place(_: &Metadata) -> [i64; 4] {
    [0; 4]
}

/// The mark of a file in a folder; the path cannot leave the folder.
pub fn mark(folder: &Path, file: &FilePath) -> Result<FileStamp, FileError> {
    through(folder, file, |dir, file| {
        let there = dir.metadata(file.as_path()).map_err(FileError::at(file))?;
        inside::only_file(file, inside::stat_of(&there).kind)?;
        Ok(FileStamp::of(&there))
    })
}

/// Reads a file of at most `most` bytes, with its mark.
pub fn read(folder: &Path, file: &FilePath, most: u64) -> Result<(FileStamp, Vec<u8>), FileError> {
    through(folder, file, |dir, file| read_in(dir, file, most))
}

fn read_in(dir: &Dir, file: &FilePath, most: u64) -> Result<(FileStamp, Vec<u8>), FileError> {
    let failed = FileError::at(file);
    inside::only_file(file, inside::stat(dir, file)?.kind)?;
    let opened = inside::open_unwaiting(dir, file.as_path()).map_err(&failed)?;
    // Taken before reading, so that a write in between is noticed next time.
    let there = opened.metadata().map_err(&failed)?;
    inside::only_file(file, inside::stat_of(&there).kind)?;
    let mark = FileStamp::of(&there);
    let mut bytes = Vec::with_capacity(usize::try_from(mark.size.min(most)).unwrap_or_default());
    let mut opened = opened.into_std().take(most.saturating_add(1));
    opened.read_to_end(&mut bytes).map_err(&failed)?;
    match bytes.len() as u64 > most {
        true => Err(FileError::TooLarge { limit: most }),
        false => Ok((mark, bytes)),
    }
}

fn through<T>(
    folder: &Path,
    file: &FilePath,
    work: impl Fn(&Dir, &FilePath) -> Result<T, FileError>,
) -> Result<T, FileError> {
    let unusable = |error: std::io::Error| FileError::NoFolder(error.to_string());
    let dir = Dir::open_ambient_dir(folder, ambient_authority()).map_err(unusable)?;
    match work(&dir, file) {
        Err(FileError::Outside { .. }) => {
            let place = folder.canonicalize().map_err(unusable)?;
            links::through(&dir, &place, file, |file| work(&dir, file))
        }
        done => done,
    }
}
