//! Atomic writes: to a temporary file first, then renamed and synced.

use std::{
    collections::VecDeque,
    io::{self, ErrorKind, Write},
    path::Path,
    time::{Duration, SystemTime},
};

use cap_std::fs::{Dir, File, OpenOptions, Permissions};

use super::{
    FileError, FilePath, Stat, inside,
    path::{UNFINISHED, is_unfinished},
};

/// How long a temporary file is kept: a new one is not locked for a moment.
const LEFT: Duration = Duration::from_secs(60);
/// Folders that are swept for temporary files when a folder is opened.
const SWEPT_FOLDERS: usize = 256;
/// Entries that are looked at for that.
const SWEPT_ENTRIES: usize = 20_000;

/// A temporary file that is removed on drop unless it was renamed.
struct Unfinished<'a> {
    folder: &'a Dir,
    name: String,
    done: bool,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.done {
            // If that fails too, it is swept later.
            let _ = self.folder.remove_file(&self.name);
        }
    }
}

pub(super) fn write(dir: &Dir, asked: &FilePath, content: &[u8]) -> Result<Stat, FileError> {
    let failed = FileError::at(asked);
    let path = behind_links(dir, asked)?;
    let (Some(name), Some(parent)) = (path.name(), path.parent()) else {
        let path = asked.clone();
        return Err(FileError::NotAFile { path });
    };
    let folder = make_folders(dir, &parent).map_err(&failed)?;
    let before = match folder.symlink_metadata(name) {
        Ok(there) => Some(there),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    if let Some(there) = &before {
        inside::only_file(asked, inside::stat_of(there).kind)?;
        if there.permissions().readonly() {
            let path = asked.clone();
            return Err(FileError::Denied { path });
        }
    }

    let mut unfinished = Unfinished {
        folder: &folder,
        name: format!("{UNFINISHED}{:016x}", rand::random::<u64>()),
        done: false,
    };
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // Restricted files are not readable by others while they are written.
    #[cfg(unix)]
    if before.is_some() {
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let file = folder
        .open_with(&unfinished.name, &options)
        .map_err(&failed)?;
    let mut file = file.into_std();
    // Tells sweepers that it is in use. Where files cannot be locked, nothing is swept.
    let _ = file.try_lock();
    file.write_all(content).map_err(&failed)?;
    let file = File::from_std(file);
    if let Some(there) = before {
        file.set_permissions(plain(there.permissions()))
            .map_err(&failed)?;
    }
    file.sync_all().map_err(&failed)?;
    let written = file.metadata().map_err(&failed)?;
    folder
        .rename(&unfinished.name, &folder, name)
        .map_err(&failed)?;
    unfinished.done = true;
    sync_folder(&folder).map_err(&failed)?;
    Ok(inside::stat_of(&written))
}

/// Without setuid and setgid.
fn plain(permissions: Permissions) -> Permissions {
    #[cfg(unix)]
    {
        use cap_std::fs::PermissionsExt;
        Permissions::from_mode(permissions.mode() & 0o777)
    }
    #[cfg(not(unix))]
    permissions
}

/// The target of a symlink inside the folder; otherwise the path as it is.
fn behind_links(dir: &Dir, path: &FilePath) -> Result<FilePath, FileError> {
    let failed = FileError::at(path);
    match dir.symlink_metadata(path.as_path()) {
        Ok(there) if there.is_symlink() => {
            let real = dir.canonicalize(path.as_path()).map_err(&failed)?;
            let real = real.to_str().map(str::parse::<FilePath>);
            match real {
                Some(real) => real,
                None => Err(FileError::bad_path(
                    path.as_str(),
                    "its target is not valid UTF-8",
                )),
            }
        }
        Ok(_) => Ok(path.clone()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(path.clone()),
        Err(error) => Err(failed(error)),
    }
}

/// Opens a folder, creating it and its parents.
fn make_folders(dir: &Dir, path: &FilePath) -> io::Result<Dir> {
    let mut missing = VecDeque::new();
    let mut there = path.clone();
    let mut folder = loop {
        match dir.open_dir(there.as_path()) {
            Ok(folder) => break folder,
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Err(error) => {
                let (Some(parent), Some(name)) = (there.parent(), there.name()) else {
                    return Err(error);
                };
                missing.push_front(name.to_owned());
                there = parent;
            }
        }
    };
    for name in missing {
        match folder.create_dir(&name) {
            Ok(()) => sync_folder(&folder)?,
            // Created by another process meanwhile.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        folder = inside::open_folder(&folder, Path::new(&name))?;
    }
    Ok(folder)
}

/// Syncs the directory entries.
#[cfg(unix)]
fn sync_folder(folder: &Dir) -> io::Result<()> {
    // The handle itself may be opened with O_PATH.
    folder.open(".")?.sync_all()
}

/// Not needed elsewhere.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "the other one fails")]
fn sync_folder(_folder: &Dir) -> io::Result<()> {
    Ok(())
}

/// Removes temporary files of crashes, within limits.
pub(super) fn sweep(dir: &Dir) {
    let mut folders = VecDeque::from([FilePath::root()]);
    let (mut named, mut seen) = (1, 0);
    while let Some(path) = folders.pop_front() {
        let Ok(folder) = inside::open_folder(dir, path.as_path()) else {
            continue;
        };
        let Ok(entries) = folder.entries() else {
            continue;
        };
        for entry in entries.flatten() {
            seen += 1;
            if seen > SWEPT_ENTRIES {
                return;
            }
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            if is_unfinished(name) {
                remove_left(&folder, name);
            } else if named < SWEPT_FOLDERS
                && entry.file_type().is_ok_and(|kind| kind.is_dir())
                && let Ok(below) = path.join(name)
            {
                named += 1;
                folders.push_back(below);
            }
        }
    }
}

/// Removes a temporary file that is not in use.
pub(super) fn remove_left(folder: &Dir, name: &str) {
    let old = |there: &cap_std::fs::Metadata| {
        let age = there
            .modified()
            .ok()
            .and_then(|time| SystemTime::now().duration_since(time.into_std()).ok());
        there.is_file() && age.is_some_and(|age| age > LEFT)
    };
    if !folder.symlink_metadata(name).is_ok_and(|there| old(&there)) {
        return;
    }
    let Ok(file) = inside::open_unwaiting(folder, Path::new(name)) else {
        return;
    };
    if file.into_std().try_lock().is_ok() {
        // The next sweep retries.
        let _ = folder.remove_file(name);
    }
}

#[cfg(test)]
mod tests {
    use cap_std::ambient_authority;

    use super::*;

    #[test]
    fn a_write_that_did_not_finish_removes_its_file() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Dir::open_ambient_dir(temporary.path(), ambient_authority()).unwrap();
        for done in [false, true] {
            folder.write("part", "x").unwrap();
            drop(Unfinished {
                folder: &folder,
                name: "part".to_owned(),
                done,
            });
            assert_eq!(folder.exists("part"), done);
        }
    }
}
