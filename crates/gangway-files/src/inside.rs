//! Opening and listing files; nothing here leaves the folder, or blocks on a pipe or a device.

use std::{
    collections::BinaryHeap,
    fs::File,
    io::{self, Seek, SeekFrom},
    path::Path,
};

use cap_std::fs::{Dir, Metadata, OpenOptions};
use jiff::Timestamp;

use super::{Entry, FileError, FilePath, Kind, Listing, Stat, links, path::is_unfinished, write};

pub(super) fn stat_of(there: &Metadata) -> Stat {
    let kind = match there.file_type() {
        kind if kind.is_file() => Kind::File,
        kind if kind.is_dir() => Kind::Folder,
        _ => Kind::Other,
    };
    let modified = there
        .modified()
        .ok()
        .and_then(|time| Timestamp::try_from(time.into_std()).ok());
    Stat {
        kind,
        size: if kind == Kind::File { there.len() } else { 0 },
        modified: modified.unwrap_or(Timestamp::UNIX_EPOCH),
    }
}

pub(super) fn stat(dir: &Dir, path: &FilePath) -> Result<Stat, FileError> {
    let there = dir.metadata(path.as_path()).map_err(FileError::at(path))?;
    Ok(stat_of(&there))
}

/// The first entries of a folder, sorted by name.
pub(super) fn list(
    dir: &Dir,
    place: &Path,
    path: &FilePath,
    limit: usize,
) -> Result<Listing, FileError> {
    let failed = FileError::at(path);
    let folder = dir.open_dir(path.as_path()).map_err(&failed)?;
    // A max-heap, so that a folder of millions takes no more memory than the limit.
    let mut first = BinaryHeap::new();
    let (mut more, mut unnamed) = (false, 0);
    for entry in folder.entries().map_err(&failed)? {
        let name = entry.map_err(&failed)?.file_name();
        let Some(name) = name.to_str() else {
            unnamed += 1;
            continue;
        };
        if is_unfinished(name) {
            write::remove_left(&folder, name);
            continue;
        }
        if !path.join(name).is_ok_and(|path| path.name() == Some(name)) {
            unnamed += 1;
            continue;
        }
        first.push(name.to_owned());
        if first.len() > limit {
            first.pop();
            more = true;
        }
    }
    let mut entries = Vec::with_capacity(first.len());
    for name in first.into_sorted_vec() {
        let stat = match folder.symlink_metadata(&name) {
            // Resolved from the root, since a symlink may lead to a neighbour.
            Ok(there) if there.is_symlink() => {
                let path = path.join(&name);
                path.and_then(|path| links::through(dir, place, &path, |path| stat(dir, path)))
            }
            there => there.map(|there| stat_of(&there)).map_err(&failed),
        };
        let stat = match stat {
            Ok(stat) => stat,
            // Removed meanwhile, or a symlink that is broken or leads outside.
            Err(_) if folder.symlink_metadata(&name).is_err() => continue,
            Err(_) => Stat {
                kind: Kind::Other,
                size: 0,
                modified: Timestamp::UNIX_EPOCH,
            },
        };
        entries.push(Entry { name, stat });
    }
    Ok(Listing {
        entries,
        more,
        unnamed,
    })
}

/// Opens a file at an offset; returns its size, too.
pub(super) fn open_file(dir: &Dir, path: &FilePath, offset: u64) -> Result<(File, u64), FileError> {
    let failed = FileError::at(path);
    // Opening some devices has side effects.
    only_file(path, stat(dir, path)?.kind)?;
    let file = open_unwaiting(dir, path.as_path()).map_err(&failed)?;
    // Checked again on the handle, since the path may have changed.
    let there = stat_of(&file.metadata().map_err(&failed)?);
    only_file(path, there.kind)?;
    let mut file = file.into_std();
    file.seek(SeekFrom::Start(offset.min(there.size)))
        .map_err(&failed)?;
    Ok((file, there.size))
}

/// Opens for reading without blocking, for example on the writer of a pipe.
pub(super) fn open_unwaiting(dir: &Dir, path: &Path) -> io::Result<cap_std::fs::File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt;
        use rustix::fs::OFlags;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32);
    }
    dir.open_with(path, &options)
}

pub(super) fn only_file(path: &FilePath, kind: Kind) -> Result<(), FileError> {
    let path = path.clone();
    match kind {
        Kind::File => Ok(()),
        Kind::Folder => Err(FileError::NotAFile { path }),
        Kind::Other => Err(FileError::Special { path }),
    }
}

/// Opens a subfolder, unless it is a symlink.
#[cfg(unix)]
pub(super) fn open_folder(parent: &Dir, name: &Path) -> io::Result<Dir> {
    use cap_std::fs::OpenOptionsExt;
    use rustix::fs::OFlags;
    let mut options = OpenOptions::new();
    options.read(true);
    options.custom_flags((OFlags::DIRECTORY | OFlags::NOFOLLOW).bits() as i32);
    let folder = parent.open_with(name, &options)?;
    Ok(Dir::from_std_file(folder.into_std()))
}

#[cfg(not(unix))]
pub(super) fn open_folder(parent: &Dir, name: &Path) -> io::Result<Dir> {
    match parent.symlink_metadata(name)?.is_dir() {
        true => parent.open_dir(name),
        false => Err(io::ErrorKind::NotADirectory.into()),
    }
}
