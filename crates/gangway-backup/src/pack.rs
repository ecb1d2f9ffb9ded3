//! Writes a backup: databases first, then files; the archive is then read back and verified.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use gangway_core::{atomic_file, store};
use zip::{CompressionMethod, ZipArchive, ZipWriter, write::SimpleFileOptions};

use super::{BackupError, DATABASES, FORMAT, MANIFEST, Manifest, at, check, is_left_out, unpack};

#[derive(Debug)]
pub struct Packed {
    pub sessions: u64,
    pub files: usize,
    pub bytes: u64,
    /// Links, sockets and other special files, which are not backed up.
    pub skipped: Vec<PathBuf>,
}

pub fn back_up(data: &Path, to: &Path, replace: bool) -> Result<Packed, BackupError> {
    if !data.join(store::DATABASE).exists() {
        return Err(BackupError::Nothing(data.to_owned()));
    }
    if to.symlink_metadata().is_ok() && !replace {
        return Err(BackupError::Exists(to.to_owned()));
    }
    let around = to.parent().filter(|folder| !folder.as_os_str().is_empty());
    let around = around.unwrap_or(Path::new("."));
    let real = |path: &Path| path.canonicalize().map_err(at(path));
    if real(around)?.starts_with(real(data)?) {
        return Err(BackupError::Inside(to.to_owned()));
    }
    // Beside the target: private, on the same disk, and removed in any case.
    let beside = tempfile::Builder::new()
        .prefix(".gangway-backup-")
        .tempdir_in(around)
        .map_err(at(around))?;
    let archive = beside.path().join("archive.zip");
    let (files, skipped) = write(data, beside.path(), &archive)?;
    let copy = beside.path().join("check");
    unpack::unpack(&archive, &copy)?;
    let found = check(&copy, "the database")?;
    let bytes = archive.metadata().map_err(at(&archive))?.len();
    if replace {
        std::fs::rename(&archive, to).map_err(at(to))?;
    } else {
        // Unlike a rename, this fails if the file was created meanwhile.
        std::fs::hard_link(&archive, to)
            .or_else(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => Err(error),
                _ => std::fs::rename(&archive, to),
            })
            .map_err(at(to))?;
    }
    atomic_file::sync_folder_of(to).map_err(at(to))?;
    Ok(Packed {
        sessions: found.sessions,
        files,
        bytes,
        skipped,
    })
}

/// Writes and syncs the archive; returns the number of files and the skipped paths.
fn write(data: &Path, beside: &Path, archive: &Path) -> Result<(usize, Vec<PathBuf>), BackupError> {
    let mut sources: Vec<(String, PathBuf)> = Vec::new();
    for database in DATABASES {
        let (from, copy) = (data.join(database), beside.join(database));
        if from.exists() {
            store::copy_database(&from, &copy)?;
            sources.push((database.to_owned(), copy));
        }
    }
    let mut skipped = Vec::new();
    collect(data, "", &mut sources, &mut skipped)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(archive).map_err(at(archive))?;
    let mut zip = ZipWriter::new(BufWriter::new(file));
    let broken = |error: zip::result::ZipError| at(archive)(io::Error::other(error));
    let mut files = 0;
    for (name, path) in &sources {
        let mut source = match File::open(path) {
            Ok(source) => source,
            // Removed since it was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(at(path)(error)),
        };
        let about = source.metadata().map_err(at(path))?;
        zip.start_file(name, options_of(&about)).map_err(broken)?;
        io::copy(&mut source, &mut zip).map_err(at(path))?;
        files += 1;
    }
    let manifest = Manifest {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        made_at: jiff::Timestamp::now(),
        files,
    };
    let text = serde_json::to_vec_pretty(&manifest).map_err(|e| at(archive)(e.into()))?;
    zip.start_file(MANIFEST, SimpleFileOptions::default())
        .map_err(broken)?;
    zip.write_all(&text).map_err(at(archive))?;
    let mut file = zip.finish().map_err(broken)?;
    file.flush().map_err(at(archive))?;
    file.get_ref().sync_all().map_err(at(archive))?;
    Ok((files, skipped))
}

fn options_of(about: &std::fs::Metadata) -> SimpleFileOptions {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .large_file(about.len() >= u32::MAX.into());
    #[cfg(unix)]
    let options = {
        use std::os::unix::fs::PermissionsExt;
        options.unix_permissions(about.permissions().mode() & 0o700)
    };
    options
}

/// Lists files recursively, by their path in the data folder.
fn collect(
    folder: &Path,
    prefix: &str,
    found: &mut Vec<(String, PathBuf)>,
    skipped: &mut Vec<PathBuf>,
) -> Result<(), BackupError> {
    let entries = std::fs::read_dir(folder).map_err(at(folder))?;
    for entry in entries {
        let entry = entry.map_err(at(folder))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(at(&path))?;
        let Some(name) = entry
            .file_name()
            .to_str()
            .map(|name| format!("{prefix}{name}"))
        else {
            skipped.push(path);
            continue;
        };
        if name.contains('\\') {
            // Not representable in an archive.
            skipped.push(path);
            continue;
        }
        // A folder that is left out may contain an entry that is included.
        if DATABASES.contains(&name.as_str()) || is_left_out(&name) && !kind.is_dir() {
            continue;
        }
        if kind.is_dir() {
            collect(&path, &format!("{name}/"), found, skipped)?;
        } else if kind.is_file() {
            found.push((name, path));
        } else {
            skipped.push(path);
        }
    }
    Ok(())
}

pub(super) fn open(path: &Path) -> Result<ZipArchive<io::BufReader<File>>, BackupError> {
    let file = File::open(path).map_err(at(path))?;
    ZipArchive::new(io::BufReader::new(file)).map_err(|error| BackupError::NoBackup {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}
