//! Atomic writes of small files that only their owner can read.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
};

/// Writes a temporary file, syncs it, and renames it to `path`.
///
/// Concurrent writers of one file need a lock.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    // A leftover of a crash may be a link or readable by others, so it is replaced.
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&new)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if let Err(error) = written {
        let _ = std::fs::remove_file(&new);
        return Err(error);
    }
    std::fs::rename(&new, path)?;
    sync_folder_of(path)
}

/// Reads a small file. Anything but a regular file is rejected, since reading a pipe, for example, could block forever.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let about = std::fs::metadata(path)?;
    if !about.is_file() || about.len() > most {
        let message = format!("not a regular file of at most {most} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    std::fs::read(path)
}

/// Syncs the rename of a file.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    // Elsewhere a folder cannot be opened, and the system makes renames durable.
    if cfg!(unix)
        && let Some(folder) = path.parent()
    {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        reason = "a test that cannot go on should say where"
    )]

    #[test]
    fn a_file_is_replaced_whole_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        std::fs::write(folder.path().join("a.json.new"), "left by a crash").unwrap();
        for text in ["one", "two"] {
            super::write(&file, text.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
