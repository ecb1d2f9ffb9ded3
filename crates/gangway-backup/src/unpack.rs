//! Restores a backup. The archive is unpacked beside the data folder and verified before anything is replaced.

use std::{
    collections::HashSet,
    fs::{File, OpenOptions},
    io::{self, Read},
    path::{Component, Path, PathBuf},
};

use gangway_client::DataFolder;
use gangway_core::atomic_file;
use gangway_files::make_private_folder;

use super::{
    BackupError, FORMAT, LEFT_OUT, MANIFEST, Manifest, at, check, is_left_out, pack::open,
};

/// Size limit of the manifest.
const MANIFEST_BYTES: u64 = 64 << 10;

#[derive(Debug)]
pub struct Restored {
    pub sessions: u64,
    pub files: usize,
    /// Where the previous data folder was moved, if there was one.
    pub aside: Option<PathBuf>,
}

/// Verifies an archive and replaces this data folder with it.
pub fn restore(archive: &Path, data: &Path) -> Result<Restored, BackupError> {
    let around = data.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(around).map_err(at(around))?;
    let beside = tempfile::Builder::new()
        .prefix(".gangway-restore-")
        .tempdir_in(around)
        .map_err(at(around))?;
    let fresh = beside.path().join("data");
    let files = unpack(archive, &fresh)?;
    let found = check(&fresh, &archive.display().to_string())?;
    let is_there = data.symlink_metadata().is_ok();
    let aside = if is_there {
        let held = DataFolder::take(data)?;
        let aside = aside_of(data);
        std::fs::rename(data, &aside).map_err(at(data))?;
        if let Err(error) = std::fs::rename(&fresh, data) {
            // Roll back.
            std::fs::rename(&aside, data).map_err(at(data))?;
            return Err(at(data)(error));
        }
        drop(held);
        bring_along(&aside, data)?;
        Some(aside)
    } else {
        std::fs::rename(&fresh, data).map_err(at(data))?;
        None
    };
    atomic_file::sync_folder_of(data).map_err(at(data))?;
    Ok(Restored {
        sessions: found.sessions,
        files,
        aside,
    })
}

/// An unused name for the previous folder.
fn aside_of(data: &Path) -> PathBuf {
    let name = data.file_name().unwrap_or_default().to_string_lossy();
    let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    let mut aside = data.with_file_name(format!("{name}.before-restore-{now}"));
    let mut n = 1;
    while aside.symlink_metadata().is_ok() {
        n += 1;
        aside = data.with_file_name(format!("{name}.before-restore-{now}-{n}"));
    }
    aside
}

/// Moves what a backup leaves out, such as models and installed packages, into the new folder.
fn bring_along(aside: &Path, data: &Path) -> Result<(), BackupError> {
    for name in LEFT_OUT {
        let from = aside.join(name);
        if matches!(name, "server.lock" | "secrets/lock") || from.symlink_metadata().is_err() {
            continue;
        }
        let to = data.join(name);
        if let Some(folder) = to.parent() {
            make_private_folder(folder).map_err(at(folder))?;
        }
        if to.is_dir() {
            move_into(&from, &to)?;
        } else {
            std::fs::rename(&from, &to).map_err(at(&to))?;
        }
    }
    Ok(())
}

/// Moves the entries of a folder into an existing one, skipping those that exist there.
fn move_into(from: &Path, to: &Path) -> Result<(), BackupError> {
    for entry in std::fs::read_dir(from).map_err(at(from))?.flatten() {
        let target = to.join(entry.file_name());
        if target.symlink_metadata().is_err() {
            std::fs::rename(entry.path(), &target).map_err(at(&target))?;
        }
    }
    Ok(())
}

/// Unpacks an archive into a new private folder; returns the number of files.
pub(super) fn unpack(archive: &Path, to: &Path) -> Result<usize, BackupError> {
    let refused = |reason: String| BackupError::NoBackup {
        path: archive.to_owned(),
        reason,
    };
    let mut zip = open(archive)?;
    let manifest = manifest(&mut zip).map_err(&refused)?;
    if manifest.format > FORMAT {
        let version = manifest.version;
        return Err(refused(format!(
            "it was written by a newer Gangway ({version})"
        )));
    }
    make_private_folder(to).map_err(at(to))?;
    let mut names = HashSet::new();
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).map_err(|e| refused(e.to_string()))?;
        let name = entry
            .name()
            .map_err(|e| refused(e.to_string()))?
            .into_owned();
        if name == MANIFEST {
            continue;
        }
        let shown: String = name.chars().take(200).collect();
        if !is_plain(&name) || !entry.is_file() || is_left_out(&name) {
            return Err(refused(format!(
                "it contains {shown:?}, which is not a valid path"
            )));
        }
        if !names.insert(name.clone()) {
            return Err(refused(format!("it contains {shown:?} twice")));
        }
        let path = to.join(&name);
        if let Some(folder) = path.parent() {
            make_private_folder(folder).map_err(at(folder))?;
        }
        let executable = entry.unix_mode().is_some_and(|mode| mode & 0o100 != 0);
        let mut file = create(&path, executable).map_err(at(&path))?;
        let size = entry.size();
        // Reading one byte more than the declared size detects a larger entry; the checksum is verified at the end.
        let copied = io::copy(&mut (&mut entry).take(size + 1), &mut file)
            .map_err(|error| refused(format!("{shown:?}: {error}")))?;
        if copied != size {
            return Err(refused(format!(
                "{shown:?} does not have its declared size"
            )));
        }
        file.sync_all().map_err(at(&path))?;
    }
    if names.len() != manifest.files {
        let (found, expected) = (names.len(), manifest.files);
        return Err(refused(format!("it has {found} of {expected} files")));
    }
    Ok(names.len())
}

fn manifest<R: Read + io::Seek>(zip: &mut zip::ZipArchive<R>) -> Result<Manifest, String> {
    let entry = zip
        .by_name(MANIFEST)
        .map_err(|_| format!("it has no {MANIFEST}"))?;
    let mut text = Vec::new();
    entry
        .take(MANIFEST_BYTES)
        .read_to_end(&mut text)
        .map_err(|error| error.to_string())?;
    serde_json::from_slice(&text).map_err(|error| format!("{MANIFEST}: {error}"))
}

/// A relative path without `.` or `..`.
fn is_plain(name: &str) -> bool {
    let path = Path::new(name);
    let mut parts = path.components();
    let forbidden: &[char] = if cfg!(windows) {
        &['\\', '\0', ':']
    } else {
        &['\\', '\0']
    };
    !name.is_empty()
        && !name.contains(forbidden)
        && path.components().count() == name.split('/').count()
        && parts.all(|part| matches!(part, Component::Normal(_)))
}

fn create(path: &Path, executable: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        let mode = if executable { 0o700 } else { 0o600 };
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    }
    #[cfg(not(unix))]
    let _ = executable;
    options.open(path)
}
